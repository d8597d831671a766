import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../../../domain/shared/or-throw.ts'
import { runStartStep, runStartWork, runStartStepUnlessDamaged } from '../../../../interfaces/compose/start-step.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'

const UNAVAILABLE = E.left({ _tag: 'StoreUnavailable', reason: 'no answer in 800 ms' } as const)

/** A task that returns the given answers in order and then repeats the last answer. */
const createTask = (...answers: ReadonlyArray<E.Either<{ readonly _tag: string }, string>>) => {
  let calls = 0
  const task = async () => answers[Math.min(calls++, answers.length - 1)] ?? UNAVAILABLE
  return { task, calls: () => calls }
}

test('a slow store is queried again at the start', async (t) => {
  const { task, calls } = createTask(UNAVAILABLE, UNAVAILABLE, E.right('there'))
  t.is(await runStartStep('read the head', task, immediateTimers), 'there')
  t.is(calls(), 3)
})

test('a step that rejects because the store is slow is repeated; any other defect ends the start', async (t) => {
  const { task, calls } = createTask(UNAVAILABLE, UNAVAILABLE, E.right('there'))
  t.is(
    await runStartWork('list', async () => orThrow(await task(), 'the list cannot be read'), immediateTimers),
    'there',
  )
  t.is(calls(), 3)
  await t.throwsAsync(
    runStartWork('list', () => Promise.reject(new Error('a defect')), immediateTimers),
    { message: 'could not list: a defect' },
  )
})

test('an unavailable store ends the start with the name of the step', async (t) => {
  const { task } = createTask(UNAVAILABLE)
  await t.throwsAsync(runStartStep('read the head', task, immediateTimers), {
    message: 'could not read the head: no answer in 800 ms',
  })
})

test('any other failure ends the start immediately', async (t) => {
  const { task, calls } = createTask(E.left({ _tag: 'WrongPassword' }))
  await t.throwsAsync(runStartStep('log in', task, immediateTimers), { message: 'could not log in: WrongPassword' })
  t.is(calls(), 1)
})

test('unreadable data does not end the start at a step that may be skipped', async (t) => {
  await t.notThrowsAsync(runStartStepUnlessDamaged('a step', createTask(E.left({ _tag: 'LogCorrupted' })).task))
})
