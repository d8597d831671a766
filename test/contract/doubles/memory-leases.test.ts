import test from 'ava'
import type { HeldLease } from '../../../application/ports/leases.ts'
import { createMemoryLeases } from '../../support/doubles/memory/leases.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { leasesContract, sharedLeasesContract } from '../leases.contract.ts'

const close = (): Promise<void> => Promise.resolve()

leasesContract('double', async () => ({ opened: createMemoryLeases().of('alpha'), close }))
sharedLeasesContract('double', async () => {
  const leases = createMemoryLeases()
  return { opened: [leases.of('alpha'), leases.of('beta')] as const, close }
})

/** Work that continues until the lease is lost. */
const untilLost = (held: Array<HeldLease>) => async (lease: HeldLease): Promise<void> => {
  held.push(lease)
  await new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }))
}

const withTwoCandidates = async () => {
  const leases = createMemoryLeases()
  const [alpha, beta]: [Array<HeldLease>, Array<HeldLease>] = [[], []]
  leases.of('alpha').hold('duty', untilLost(alpha))
  leases.of('beta').hold('duty', untilLost(beta))
  await eventually(() => {
    if (leases.holderOf('duty') !== 'alpha') throw new Error('the first candidate does not hold the lease')
  })
  return { leases, alpha, beta }
}

test('a deposed holder is notified at once, and another candidate gets a higher token', async (t) => {
  const { leases, alpha, beta } = await withTwoCandidates()
  leases.depose('duty')
  t.is(leases.holderOf('duty'), 'beta')
  t.true(alpha[0]?.signal.aborted)
  t.true(Number(beta[0]?.token) > Number(alpha[0]?.token))
  t.is(beta[0]?.token, leases.tokenOf('duty'))
})

test('a frozen holder loses its lease and is notified when it thaws', async (t) => {
  const { leases, alpha, beta } = await withTwoCandidates()
  leases.freeze('alpha')
  t.deepEqual([leases.holderOf('duty'), alpha[0]?.signal.aborted], ['beta', false])
  leases.thaw('alpha')
  t.true(alpha[0]?.signal.aborted)
  t.false(beta[0]?.signal.aborted)
})
