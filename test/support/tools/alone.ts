import type { Leases } from '../../../application/ports/peers/leases.ts'
import { embeddedLeases } from '../../../infrastructure/embedded-members.ts'

/** The leases of each world that a test makes, of whose processes each is alone. */
export const ALONE: Leases = {
  isAlone: true,
  hold: (name, work) => embeddedLeases({ name: 'local', incarnation: 'one' }).hold(name, work),
  holders: () => [],
}
