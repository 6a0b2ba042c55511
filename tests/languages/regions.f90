! SPDX-License-Identifier: GPL-2.0-or-later
! Regions of names in Fortran.
program regions
    use perfctr
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    interface
        subroutine loop(n) bind(c)
            import :: c_int
            integer(c_int), value :: n
        end subroutine
    end interface
    character(len=8) :: padded = "small"
    integer :: i

    do i = 1, 10
        call perfctr_region_begin(padded)
        call loop(1000_c_int)
        call perfctr_region_end("small")
        call perfctr_region_begin("large")
        call loop(11000_c_int)
        call perfctr_region_end("large")
    end do
end program
