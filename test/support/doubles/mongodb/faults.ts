/**
 * What goes wrong with the next `times` calls of a command that come to the primary; `*` is every command, greetings
 * included.
 */
export interface Fault {
  readonly command: string
  readonly times: number
  /**
   * `drop-before` and `drop-after`: the connection is cut before, or after, the command took effect. `hang`: no answer.
   * `empty`: an answer that says ok and nothing else. `garbled`: bytes that are no BSON. `not-primary`: the refusal of
   * a
   * server that has stepped down. `hold`: the command is begun once all faults are over, unless its `maxTimeMS` is
   * first.
   */
  readonly effect: 'drop-before' | 'drop-after' | 'hang' | 'empty' | 'garbled' | 'not-primary' | 'hold'
}

/** What befalls the replica set; members are numbered from 0. Milliseconds; an election needs most members in touch. */
export type Turn =
  /** The primary steps down, as told by a person; another one is elected that much later. */
  | { readonly turn: 'step-down'; readonly electionMs: number }
  /** The primary is cut off from the other members, which elect another; to its clients it goes on as it was. */
  | { readonly turn: 'depose'; readonly electionMs: number }
  /** All that were cut off are in touch again: a deposed primary steps down and rolls back. */
  | { readonly turn: 'rejoin' }
  /** The member answers nobody. */
  | { readonly turn: 'freeze'; readonly member: number; readonly electionMs: number }
  /**
   * It goes on; where another was elected meanwhile, it hears of it that much later, and takes itself for the primary
   * until then.
   */
  | { readonly turn: 'thaw'; readonly member: number; readonly claimMs: number }
  /** Its port is closed. */
  | { readonly turn: 'stop'; readonly member: number; readonly electionMs: number }
  | { readonly turn: 'start'; readonly member: number }
  /** How much its clock is ahead. */
  | { readonly turn: 'skew'; readonly member: number; readonly ms: number }

/**
 * `open` as a network should be; `silent`: nothing comes through, nothing is refused; `closed`: connections are
 * refused.
 */
export type Line = 'open' | 'silent' | 'closed'

/** Addresses of all members for one client alone; its lines to some of them, or to all. */
export type DoorControl =
  | { readonly door: string }
  | { readonly door: string; readonly line: Line; readonly members: ReadonlyArray<number> }

/**
 * What a test tells the double. `heal`: no fault is left. `cut-off`: the primary goes on without any other member.
 * `lag`: only the secondaries that can be read stay behind. `catch-up`: all have all that the primary wrote.
 * `roll-back`:
 * all have nothing of what it wrote without the others. `count`: only to be answered with its state.
 */
export type Control = Fault | Turn | DoorControl | 'heal' | 'cut-off' | 'lag' | 'catch-up' | 'roll-back' | 'count'

/** A write that a new primary, or a power cut, could undo after it was acknowledged. */
export interface WeakWrite {
  readonly collection: string
  readonly command: string
  /** The write concern it came with, as JSON. */
  readonly concern: string
}

export interface State {
  /** Commands that are held. */
  readonly held: number
  /** Writes that are done, but not a majority's yet. */
  readonly waiting: number
  /** Connections made so far. */
  readonly connections: number
  /** The member that most follow; null: none, until the next election. */
  readonly primary: number | null
  /** Of the latest election. */
  readonly term: number
  /** Members that take themselves for the primary, and are not. */
  readonly deposed: ReadonlyArray<number>
  /** Each once; also those that were refused, without those that may be lost. */
  readonly weakWrites: ReadonlyArray<WeakWrite>
}

/** What is sent to the double, and comes back. */
export interface Told {
  readonly id: number
  readonly control: Control
}

export interface Answered {
  readonly id: number
  readonly state: State
  /** Of the door that was asked for. */
  readonly ports: ReadonlyArray<number>
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
      pending = pending.flatMap((one) =>
        one !== fault ? [one] : one.times > 1 ? [{ ...one, times: one.times - 1 }] : [],
      )
      return fault.effect
    },
  }
}
