/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An instruction of AVX-512, which the emulator does not have. */
	.globl	_start
_start:
	vpxord	%zmm0, %zmm0, %zmm0
	ud2
