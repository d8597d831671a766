import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { JobResult, JobRunner } from '../../../../application/jobs/job.ts'
import { openJobs } from '../../../../application/jobs/jobs.ts'
import type { Announced, Member, Members } from '../../../../application/ports/members.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { memberNamed } from '../admission/members.ts'

/** A runner that reports progress and runs until its abort signal or `finish`. */
export const createScriptedRunner = () => {
  const finished = Promise.withResolvers<E.Either<string, JobResult>>()
  let done = 0
  let reportProgress: Parameters<JobRunner['run']>[1] = () => undefined
  let isAborted = false
  const runner: JobRunner = {
    problem: () => null,
    run: async (_order, report, signal) => {
      reportProgress = report
      signal.addEventListener('abort', () => {
        isAborted = true
        finished.resolve(E.left('aborted'))
      })
      return await finished.promise
    },
  }
  return {
    runner, finish: finished.resolve,
    advance: () => reportProgress({ done: (done += 1), total: 10, detail: 'a file' }),
    isAborted: () => isAborted,
  }
}

/** Processes on one log that see each other as members. A process that is cut off sees no others and is not seen. */
export const createJobsWorld = () => {
  const store = createMemoryEventStore()
  const timers = createManualTimers()
  const present = new Map<string, Member>()
  const cutOff = new Set<string>()
  const subscribers = new Set<{
    readonly own: string
    readonly change: Set<() => void>
    readonly lost: Set<(member: Member) => void>
  }>()
  const changed = (): void => {
    for (const { change } of subscribers) for (const listener of change) listener()
  }
  /** Advances the clock in steps of 250 ms and lets the pending work of each step run. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 250) {
      timers.advance(250)
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    }
  }

  const membersOf = (self: Member): Members => {
    const own = { own: self.incarnation, change: new Set<() => void>(), lost: new Set<(member: Member) => void>() }
    subscribers.add(own)
    return {
      self,
      replaced: new Promise(() => undefined),
      ownershipProblem: () =>
        Promise.resolve(cutOff.has(self.incarnation) || !present.has(self.incarnation) ? 'cut off' : null),
      all: () =>
        [...present.values()].filter(
          ({ incarnation }) =>
            incarnation === self.incarnation || (!cutOff.has(self.incarnation) && !cutOff.has(incarnation)),
        ),
      onChange: (listener) => {
        own.change.add(listener)
        return () => void own.change.delete(listener)
      },
      onLost: (listener) => {
        own.lost.add(listener)
        return () => void own.lost.delete(listener)
      },
      announce: (change: Partial<Announced>) => {
        const before = present.get(self.incarnation)
        if (before !== undefined) present.set(self.incarnation, { ...before, ...change })
        changed()
      },
      leave: () => Promise.resolve(),
    }
  }

  const start = async (name: string, pull: JobRunner | null = createScriptedRunner().runner, run = 1) => {
    const environment = createTestEnvironment()
    const self = memberNamed(name, null, { incarnation: `${name}-${run}` })
    present.set(self.incarnation, self)
    const runners = { pull, verify: null, check: createScriptedRunner().runner, rebuild: createScriptedRunner().runner }
    const write = { store, keyring: createMemoryKeyring(), environment, timers }
    const logger = createRecordingLogger()
    const jobs = right(await openJobs({ ...write, logger, runners, members: membersOf(self), isShared: true }))
    return { jobs, self, logger }
  }

  return {
    store, start, pass, present,
    /** Cuts a process off: its heartbeats and member reads are not answered. */
    cut: ({ incarnation }: Member): void => {
      cutOff.add(incarnation)
      changed()
    },
    /** Ends `cut`. */
    mend: ({ incarnation }: Member): void => {
      cutOff.delete(incarnation)
      changed()
    },
    /** Reports a member as lost to all other processes. */
    lose: (member: Member): void => {
      for (const { own, lost } of subscribers)
        if (own !== member.incarnation) for (const listener of lost) listener(member)
    },
    /** Removes the entry of a process: it left, was killed, or restarted under its name. */
    remove: ({ incarnation }: Member): void => {
      present.delete(incarnation)
      for (const subscriber of subscribers) if (subscriber.own === incarnation) subscribers.delete(subscriber)
      changed()
    },
    types: async () => right(await store.read('jobs')).map(({ type }) => type),
  }
}
