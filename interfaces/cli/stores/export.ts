import { liveStream } from '../../../domain/live/events.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { SegmentsFenced, segmentsStream } from '../../../domain/transcript/events.ts'
import { readUndamaged } from '../../../application/log/read-undamaged.ts'
import { clearData, clearEvent } from './live-events.ts'
import { type ToolData, withData } from './tool-data.ts'
import { unknownLive } from '../not-found.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { EXPORT } from '../commands/stores.ts'
import { withStatus } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

/** Collects the stored data of a session. `lost` lists the events that cannot be read. */
export const exportedLive = async ({ store, keyring }: Pick<ToolData, 'store' | 'keyring'>, liveId: number) => {
  const history = orThrow(await readUndamaged(store, liveStream(liveId)))
  const transcript = orThrow(await readUndamaged(store, segmentsStream(liveId)))
  const events = await Promise.all(history.events.map((event) => clearEvent(keyring, event)))
  const segmentEvents = transcript.events.filter(({ type }) => type !== SegmentsFenced.type)
  const segments = await Promise.all(segmentEvents.map((event) => clearData(keyring, event)))
  return { live: liveId, events, segments, lost: [...history.lost, ...transcript.lost] }
}

/**
 * Runs `stenolog export`. Resolves to the exit code: 1 when some events cannot be read. Throws for an unknown session.
 */
export const exportLive = async (args: ReadonlyArray<string>): Promise<number> => {
  const liveId = Number(readArguments(EXPORT, args).operands[0])
  return withData(toolSettings(), async ({ store, keyring }) => {
    const exported = await withStatus((status) => {
      status.show(`reading session ${liveId}`)
      return exportedLive({ store, keyring }, liveId)
    })
    const { events, lost } = exported
    if (events.length === 0 && lost.length === 0) throw unknownLive(liveId)
    console.log(JSON.stringify(exported, null, 2))
    for (const { stream, revision, reason } of lost)
      console.error(`error: revision ${revision} of ${stream} cannot be read: ${reason}`)
    return lost.length === 0 ? 0 : 1
  })
}
