import type { HeldLease, Leases } from './ports/peers/leases.ts'

interface Running {
  readonly stop: () => Promise<void>
}

/** Whatever runs until it is stopped, begun anew each time that the lease is held. */
export const whileHeld = (leases: Pick<Leases, 'hold'>, name: string, start: (held: HeldLease) => Running): Running =>
  leases.hold(name, async (held) => {
    const { signal } = held
    const running = start(held)
    if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await running.stop()
  })
