/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters have one prefix in all files of the driver: perfctr.NAME on the command line. */
#ifndef _PERFCTR_PARAMETERS_H
#define _PERFCTR_PARAMETERS_H

#include <linux/moduleparam.h>

#ifndef MODULE
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "perfctr."
#endif

#endif
