import type { HeldLease, Leases } from './ports/leases.ts'

interface Running {
  readonly stop: () => Promise<void>
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Starts a task each time this process gets the lease, and stops it when the lease is lost. */
export const whileLeaseHeld = (
  leases: Pick<Leases, 'hold'>,
  name: string,
  start: (held: HeldLease) => Running,
): Running =>
  leases.hold(name, async (held) => {
    const running = start(held)
    await aborted(held.signal)
    await running.stop()
  })
