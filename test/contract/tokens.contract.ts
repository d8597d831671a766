import type { ExecutionContext } from 'ava'
import {
  OUTRANKED, type Change, type Documents, type ReadModel, type PublishedProgress,
} from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { checkpointAt, duty } from '../support/read-models/checkpoints.ts'
import { right } from './event-store-support.ts'

const positionAt = (n: number): Position => String(n).padStart(20, '0') as Position

const MODEL = { projection: 'projection', collection: 'lives' }
const STAGED = { projection: 'staged', collection: 'lives_rebuild' }
const OTHER = { projection: 'other', collection: 'live-tokens' }

const late: Change = { kind: 'put', collection: 'lives', id: 'late', document: { id: 9 }, position: positionAt(9) }

type On = (title: string, body: (t: ExecutionContext, documents: Documents) => Promise<void>) => void

/**
 * Tests fencing tokens. Each writer of a read model has a token. After a write with a higher token the store refuses
 * writes with lower tokens.
 */
export const tokensContract = (on: On): void => {
  on(
    'a writer with a lower token does not move the checkpoint of a writer with a higher token',
    async (t, documents) => {
      for (const model of [MODEL, duty('chore')]) {
        const commitAs = (token: number, position: number, changes: ReadonlyArray<Change> = []) =>
          documents.commit(model, changes, checkpointAt(positionAt(position)), token)
        const currentPosition = async () => Number((await right(documents.checkpoint(model))).position)
        await right(commitAs(3, 5))
        t.like(await commitAs(2, 9, [late]), { left: OUTRANKED })
        t.is(await currentPosition(), 5)
        await right(commitAs(3, 6))
        // A new writer claims the checkpoint with a higher token at the same position.
        await right(commitAs(4, 6))
        t.like(await commitAs(3, 7), { left: OUTRANKED })
        t.like(await commitAs(3, 6), { left: OUTRANKED })
        await right(commitAs(4, 5))
        t.is(await currentPosition(), 6)
      }
    },
  )

  on(
    'the progress of several read models is read together; writers with lower tokens cannot publish it',
    async (t, documents) => {
      const progressAt = (passed: number): PublishedProgress => ({
        passed: positionAt(passed),
        beat: passed,
        isResting: true,
        isHeldUp: false,
        isRebuilding: false,
      })
      const publish = (model: ReadModel, token: number, passed: number) =>
        right(
          documents.publishProgress([
            { model, token, progress: progressAt(passed) },
            { model: STAGED, token, progress: progressAt(passed) },
          ]),
        )
      await publish(MODEL, 1, 1)
      t.deepEqual(await right(documents.publishedProgress([MODEL, OTHER])), [null, null], 'no checkpoint exists')
      await right(documents.commit(MODEL, [], checkpointAt(positionAt(2)), 2))
      await publish(MODEL, 1, 2)
      t.deepEqual(await right(documents.publishedProgress([MODEL])), [null])
      await publish(MODEL, 2, 3)
      await right(documents.commit(MODEL, [], checkpointAt(positionAt(4)), 2))
      t.deepEqual(
        await right(documents.publishedProgress([OTHER, MODEL])),
        [null, progressAt(3)],
        'the progress outlasts the next checkpoint',
      )
      const { position } = await right(documents.checkpoint(MODEL))
      t.is(position, positionAt(4), 'publishing progress moves no checkpoint')
      t.deepEqual(
        [await right(documents.publishedProgress([])), await right(documents.publishProgress([]))],
        [[], undefined],
      )
    },
  )
}
