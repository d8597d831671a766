import { join } from 'node:path'
import { v7 } from 'uuid'
import { sealEvents } from '../../../application/log/event-serialization.ts'
import type { NewEvent } from '../../../application/ports/event-store.ts'
import { ADMISSION_STREAM } from '../../../domain/admission/events.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { EMBEDDED_NAME } from '../../../infrastructure/embedded-members.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { liveCreated } from '../events/sample-events.ts'
import { right } from '../tools/right.ts'

const ADMISSIONS_AT_ONCE = 200

/**
 * Adds `count` sessions of a user that wait for their first sender, with ids from `first`, to the embedded stores of a
 * stopped service. Nobody created or opened sessions there before. They reserve no memory, so their number is free.
 */
export const addOpenSessions = async (
  dataDirectory: string,
  { userId, first, count }: { readonly userId: number; readonly first: number; readonly count: number },
): Promise<void> => {
  const masterKey = await loadMasterKey(join(dataDirectory, 'master.key'))
  const store = await openSqliteEventStore({ file: join(dataDirectory, 'events.sqlite') })
  const keyring = await openSqliteKeyring({ file: join(dataDirectory, 'keyring.sqlite'), masterKey })
  const [at, instance] = [new Date().toISOString().replace('Z', '000+00:00'), v7()]
  const metadata = { correlationId: v7(), causationId: v7(), actor: `user:${userId}`, recordedAt: at }
  const vram = 0
  const admitted = (liveId: number): NewEvent => {
    const reserved = { liveId, userId, worker: EMBEDDED_NAME, vram, needs: ['demo-en'], instance }
    return { id: v7(), type: 'Admitted', data: { ...reserved, commandId: `create-${liveId}`, at }, metadata }
  }
  const create = async (liveId: number): Promise<void> => {
    const created = liveCreated({
      liveId, userId, at, commandId: `create-${liveId}`, worker: EMBEDDED_NAME, vram,
      model: { id: 1, name: 'demo-en', vram }, senderToken: v7(), senderTokenHash: v7(), listenerToken: v7(),
      listenerTokenHash: v7(),
    })
    const sealed = right(await sealEvents(keyring, liveStream(liveId))([created]))
    right(await store.append(liveStream(liveId), 'no-stream', sealed.map((one) => ({ ...one, id: v7(), metadata }))))
  }
  for (let from = first; from < first + count; from += ADMISSIONS_AT_ONCE) {
    const ids = Array.from({ length: Math.min(ADMISSIONS_AT_ONCE, first + count - from) }, (_, index) => from + index)
    right(await store.append(ADMISSION_STREAM, 'any', ids.map(admitted)))
    await Promise.all(ids.map(create))
  }
  await store.close()
  await keyring.close()
}
