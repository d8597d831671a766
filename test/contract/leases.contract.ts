import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { HeldLease, Leases } from '../../application/ports/leases.ts'
import { winnersOfRaces } from '../../infrastructure/mongodb/atomic-updates.ts'
import type { LeaseRegister } from '../../infrastructure/mongodb/lease-register.ts'
import { eventually } from '../support/tools/eventually.ts'

interface Opened<A> {
  readonly opened: A
  readonly close: () => Promise<void>
}

/** Work that runs until it loses its lease. `held` collects each lease that it received. */
const endless = () => {
  const held: Array<HeldLease> = []
  const work = async (lease: HeldLease): Promise<void> => {
    held.push(lease)
    if (!lease.signal.aborted)
      await new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }))
  }
  return { held, work }
}

const until = (condition: () => boolean): Promise<void> =>
  eventually(async () => {
    if (!condition()) throw new Error(`still not: ${String(condition)}`)
  })

/** Tests the leases of one process, for every adapter. */
export const leasesContract = (
  name: string,
  open: () => Promise<Opened<Leases>>,
  run: SerialFn | typeof test = test,
): void => {
  const on = (title: string, body: (t: ExecutionContext, leases: Leases) => Promise<void>): void => {
    run(`${name}: ${title}`, async (t) => {
      const { opened, close } = await open()
      try {
        await body(t, opened)
      } finally {
        await close()
      }
    })
  }

  on('a lease is held from the start of its work to its stop, and the stop waits for the work', async (t, leases) => {
    const { held, work } = endless()
    let hasEnded = false
    const request = leases.hold('duty:one', (lease) => work(lease).then(() => void (hasEnded = true)))
    const other = leases.hold('duty:two', endless().work)
    await until(() => leases.holders().filter(({ isOwn, holder }) => isOwn && holder === 'alpha').length === 2)
    t.deepEqual(
      leases
        .holders()
        .map((holder) => holder.name)
        .toSorted(),
      ['duty:one', 'duty:two'],
    )
    t.is(held.length, 1)
    t.is(held[0]?.signal.aborted, false)
    t.throws(() => leases.hold('duty:one', work), { message: 'the lease duty:one is already requested' })
    await request.stop()
    t.deepEqual([held.length, held[0]?.signal.aborted, hasEnded], [1, true, true])
    await until(() => leases.holders().every((holder) => holder.name !== 'duty:one' || !holder.isOwn))
    await other.stop()
  })

  on('work that ends or throws starts again until it is stopped', async (t, leases) => {
    let runs = 0
    const request = leases.hold('duty:one', async ({ signal }) => {
      t.false(signal.aborted)
      runs += 1
      if (runs % 2 === 0) throw new Error('broken')
    })
    await until(() => runs >= 4)
    await request.stop()
    const before = runs
    const again = leases.hold('duty:one', async () => void (runs += 1))
    await until(() => runs > before)
    await again.stop()
  })
}

/** Tests leases that two processes share. `open` returns the leases of both processes. */
export const sharedLeasesContract = (
  name: string, open: () => Promise<Opened<readonly [Leases, Leases]>>, run: SerialFn | typeof test = test,
): void => {
  run(`${name}: a lease has one holder, and the next holder has a higher token`, async (t) => {
    const { opened: [alpha, beta], close } = await open()
    try {
      const [first, second] = [endless(), endless()]
      const requests = [alpha.hold('duty:one', first.work)]
      await until(() => first.held.length === 1)
      requests.push(beta.hold('duty:one', second.work))
      await until(() => beta.holders().some(({ holder, isOwn }) => holder === 'alpha' && !isOwn))
      t.is(second.held.length, 0)
      await requests[0]?.stop()
      await until(() => second.held.length === 1)
      t.true(Number(second.held[0]?.token) > Number(first.held[0]?.token))
      t.is(second.held[0]?.signal.aborted, false)
      await requests[1]?.stop()
    } finally {
      await close()
    }
  })
}

/** Tests every lease register: each step is atomic, and no token is issued twice. */
export const leaseRegisterContract = (
  name: string,
  open: () => Promise<Opened<LeaseRegister>>,
  run: SerialFn | typeof test = test,
): void => {
  const [alpha, beta] = [{ name: 'alpha', incarnation: '1' }, { name: 'beta', incarnation: '2' }]
  run(`${name}: a lease is taken only in the state that was read, and only its holder releases it`, async (t) => {
    const { opened: register, close } = await open()
    try {
      t.deepEqual(await register.read(), E.right([]))
      t.deepEqual(await register.take('one', undefined, alpha), E.right(1))
      t.deepEqual(await register.take('one', undefined, beta), E.right(null))
      const first = { name: 'one', holder: 'alpha', incarnation: '1', token: 1 }
      t.deepEqual(await register.read(), E.right([first]))
      t.deepEqual(await register.take('one', first, beta), E.right(2))
      t.deepEqual(await register.take('one', first, alpha), E.right(null))
      const second = { name: 'one', holder: 'beta', incarnation: '2', token: 2 }
      for (const [by, token] of [
        [alpha, 1],
        [alpha, 2],
        [beta, 1],
      ] as const)
        await register.release('one', by, token)
      t.deepEqual(await register.read(), E.right([second]))
      t.deepEqual(await register.release('one', beta, 2), E.right(undefined))
      const free = { name: 'one', holder: null, incarnation: null, token: 2 }
      t.deepEqual(await register.read(), E.right([free]))
      const tokens: Array<number> = []
      const winners = await winnersOfRaces(async (round, writer) => {
        const seen = { ...free, token: free.token + round }
        const taken = await register.take('one', seen, { name: `taker-${writer}`, incarnation: String(writer) })
        if (E.isLeft(taken) || taken.right === null) return false
        tokens.push(taken.right)
        return true
      })
      t.deepEqual([winners, tokens], [[1, 1, 1], [3, 4, 5]])
    } finally {
      await close()
    }
  })
}
