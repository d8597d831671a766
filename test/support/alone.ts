import { aloneLeases } from '../../infrastructure/alone.ts'

/** Where there is one process. */
export const ALONE = aloneLeases({ name: 'local', incarnation: 'one' })
