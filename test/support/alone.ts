import type { Leases } from '../../application/ports/peers/leases.ts'
import { aloneLeases } from '../../infrastructure/alone.ts'

/** The leases of each world that a test makes, of whose processes each is alone. */
export const ALONE: Leases = {
  isAlone: true,
  hold: (name, work) => aloneLeases({ name: 'local', incarnation: 'one' }).hold(name, work),
  holders: () => [],
}
