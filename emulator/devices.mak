# SPDX-License-Identifier: GPL-2.0-or-later
# Everything that the lean QEMU can emulate beside the processor: the two PC boards
# (which bring the ISA serial port, the timers and ACPI) and what scripts/vm plugs in.
CONFIG_I440FX=y
CONFIG_Q35=y
CONFIG_HPET=y
CONFIG_ISA_DEBUG=y
CONFIG_SERIAL_ISA=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_RNG=y
