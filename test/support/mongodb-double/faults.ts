/** What goes wrong with the next `times` calls of a command; `*` is every command, greetings included. */
export interface Fault {
  readonly command: string
  readonly times: number
  /**
   * `drop-before` and `drop-after`: the connection is cut before, or after, the command took effect. `hang`: no answer.
   * `empty`: an answer that says ok and nothing else. `garbled`: bytes that are no BSON. `not-primary`: the refusal of a
   * server that has stepped down.
   */
  readonly effect: 'drop-before' | 'drop-after' | 'hang' | 'empty' | 'garbled' | 'not-primary'
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
