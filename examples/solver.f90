! SPDX-License-Identifier: GPL-2.0-or-later
! The same as solver.c, in Fortran: gfortran /usr/local/include/perfctr.f90 solver.f90 -lperfctr
program solver
    use perfctr
    implicit none
    integer, parameter :: points = 100
    double precision :: value(points) = 0, change
    integer :: steps = 0

    value(points) = 1
    call perfctr_region_begin("solver")
    do
        change = relax(value)
        if (change <= 1d-3) exit
        steps = steps + 1
    end do
    call perfctr_region_end("solver")
    print '(i0,a)', steps, ' steps'
contains
    double precision function relax(value)
        double precision, intent(inout) :: value(:)
        double precision :: next
        integer :: i

        call perfctr_region_begin("relax")
        relax = 0
        do i = 2, size(value) - 1
            next = (value(i - 1) + value(i + 1)) / 2
            relax = relax + abs(next - value(i))
            value(i) = next
        end do
        call perfctr_region_end("relax")
    end function
end program
