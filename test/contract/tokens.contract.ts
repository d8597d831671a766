import type { ExecutionContext } from 'ava'
import { OUTRANKED } from '../../application/ports/documents.ts'
import type { Change, Documents, ReadModel, PublishedProgress } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { checkpointAt, duty } from '../support/read-models/checkpoints.ts'
import { right } from './event-store-support.ts'

const at = (n: number): Position => String(n).padStart(20, '0') as Position

const MODEL = { projection: 'projection', collection: 'lives' }
const STAGED = { projection: 'staged', collection: 'lives_rebuild' }
const OTHER = { projection: 'other', collection: 'live-tokens' }

const late: Change = { kind: 'put', collection: 'lives', id: 'late', document: { id: 9 }, position: at(9) }

type On = (title: string, body: (t: ExecutionContext, documents: Documents) => Promise<void>) => void

/** What every store of read models does for processes that take turns at writing them. */
export const tokensContract = (on: On): void => {
  on(
    'a checkpoint that a higher token has written is moved by no lower one, whose documents their positions guard',
    async (t, documents) => {
      for (const whose of [MODEL, duty('chore')]) {
        const commitAs = (token: number, position: number, changes: ReadonlyArray<Change> = []) =>
          documents.commit(whose, changes, checkpointAt(at(position)), token)()
        const stands = async () => Number((await right(documents.checkpoint(whose))).position)
        await right(() => commitAs(3, 5))
        t.like(await commitAs(2, 9, [late]), { left: OUTRANKED })
        t.is(await stands(), 5)
        await right(() => commitAs(3, 6))
        // A claim: who takes over says so where the checkpoint stands already.
        await right(() => commitAs(4, 6))
        t.like(await commitAs(3, 7), { left: OUTRANKED })
        t.like(await commitAs(3, 6), { left: OUTRANKED })
        await right(() => commitAs(4, 5))
        t.is(await stands(), 6)
      }
    },
  )

  on(
    'what is told beside a checkpoint is read of many at once, and not heard of lower tokens',
    async (t, documents) => {
      const told = (passed: number): PublishedProgress => ({
        passed: at(passed),
        beat: passed,
        isResting: true,
        isHeldUp: false,
        isRebuilding: false,
      })
      const tell = (model: ReadModel, token: number, passed: number) =>
        right(
          documents.publishProgress([
            { model, token, progress: told(passed) },
            { model: STAGED, token, progress: told(passed) },
          ]),
        )
      await tell(MODEL, 1, 1)
      t.deepEqual(await right(documents.publishedProgress([MODEL, OTHER])), [null, null], 'there is no checkpoint')
      await right(documents.commit(MODEL, [], checkpointAt(at(2)), 2))
      await tell(MODEL, 1, 2)
      t.deepEqual(await right(documents.publishedProgress([MODEL])), [null])
      await tell(MODEL, 2, 3)
      await right(documents.commit(MODEL, [], checkpointAt(at(4)), 2))
      t.deepEqual(
        await right(documents.publishedProgress([OTHER, MODEL])),
        [null, told(3)],
        'it outlasts the next checkpoint',
      )
      t.is((await right(documents.checkpoint(MODEL))).position, at(4), 'and moves none')
      t.deepEqual(
        [await right(documents.publishedProgress([])), await right(documents.publishProgress([]))],
        [[], undefined],
      )
    },
  )
}
