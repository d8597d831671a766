import type { Leases } from '../../../application/ports/leases.ts'
import { embeddedLeases } from '../../../infrastructure/embedded-members.ts'

/** Leases for a test with one process, which holds every lease. */
export const SINGLE_PROCESS_LEASES: Leases = {
  isAlone: true,
  hold: (name, work) => embeddedLeases({ name: 'local', incarnation: 'one' }).hold(name, work),
  holders: () => [],
}
