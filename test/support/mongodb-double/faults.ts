/** What goes wrong with the next `times` calls of a command; `*` is every command, greetings included. */
export interface Fault {
  readonly command: string
  readonly times: number
  /**
   * `drop-before` and `drop-after`: the connection is cut before, or after, the command took effect. `hang`: no answer.
   * `empty`: an answer that says ok and nothing else. `garbled`: bytes that are no BSON. `not-primary`: the refusal of a
   * server that has stepped down. `hold`: the command is begun once all faults are over, unless its `maxTimeMS` is first.
   */
  readonly effect: 'drop-before' | 'drop-after' | 'hang' | 'empty' | 'garbled' | 'not-primary' | 'hold'
}

/**
 * What a test tells the double. `heal`: no fault is left. `cut-off`: the primary goes on without any other member.
 * `lag`: only the secondary that can be read stays behind. `catch-up`: all have all that the primary wrote. `roll-back`:
 * all have nothing of what it wrote without the others. `count`: only to be answered with its state.
 */
export type Control = Fault | 'heal' | 'cut-off' | 'lag' | 'catch-up' | 'roll-back' | 'count'

export interface State {
  /** Commands that are held. */
  readonly held: number
  /** Writes that are done, but not a majority's yet. */
  readonly waiting: number
  /** Connections made so far. */
  readonly connections: number
}

/** The faults still to come, in the order given. */
export const createFaults = () => {
  let pending: ReadonlyArray<Fault> = []
  return {
    add: (fault: Fault): void => {
      pending = [...pending, fault]
    },
    clear: (): void => {
      pending = []
    },
    /** The effect that this call meets. */
    next: (command: string): Fault['effect'] | undefined => {
      const fault = pending.find((one) => one.command === command || one.command === '*')
      if (fault === undefined) return undefined
      pending = pending.flatMap((one) => (one !== fault ? [one] : one.times > 1 ? [{ ...one, times: one.times - 1 }] : []))
      return fault.effect
    },
  }
}
