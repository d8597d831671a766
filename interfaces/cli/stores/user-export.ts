import { openEvents } from '../../../application/log/event-serialization.ts'
import { BEGINNING, type StoredEvent } from '../../../application/ports/event-store.ts'
import { usernameHash } from '../../../application/users/username-claims.ts'
import { apiTokenDecider } from '../../../domain/api-token/decider.ts'
import type { ApiTokenEvent } from '../../../domain/api-token/events.ts'
import { LiveCreated, liveStream } from '../../../domain/live/events.ts'
import { profilesDecider } from '../../../domain/profiles/decider.ts'
import { type ProfileEvent, profilesStream } from '../../../domain/profiles/events.ts'
import { fold } from '../../../domain/shared/decider.ts'
import { isOfKnownType, membersOf, eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { isUser, userDecider } from '../../../domain/user/decider.ts'
import { type UserEvent, type UsernameEvent, usernameStream, userStream } from '../../../domain/user/events.ts'
import { usernameClaimDecider } from '../../../domain/user/username-claim.ts'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import { createEnvironment } from '../../../infrastructure/process/clock-and-ids.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { exportedLive } from './export.ts'
import { clearEvent } from './live-events.ts'
import { type ToolData, withData } from './tool-data.ts'
import type { DataFiles } from '../data-files.ts'
import { countEvents } from './count-events.ts'
import { type StatusLine, withStatus } from '../status-line.ts'
import { unknownUser } from '../not-found.ts'
import { toolSettings } from '../tool-settings.ts'

type LogData = Pick<ToolData, 'store' | 'keyring'>

const UNREADABLE = 'the data cannot be read'

const openAll = async <A>({ keyring }: LogData, events: ReadonlyArray<StoredEvent>): Promise<ReadonlyArray<A>> =>
  // The cast is safe: the codecs of this stream's event types decoded the events.
  orThrow(await openEvents(keyring)(events.filter(isOfKnownType)), UNREADABLE) as unknown as ReadonlyArray<A>

const createdOf = eventReader([LiveCreated])

/** Returns the id of a user. Throws a CommandError for an unknown name. */
const userIdOf = async (data: LogData, { masterKey }: DataFiles, name: string): Promise<number> => {
  const credentials = createCredentials({
    masterKey: await loadMasterKey(masterKey),
    jwtTtlSeconds: 0,
    environment: createEnvironment(),
  })
  const claims = orThrow(await data.store.read(usernameStream(usernameHash(credentials, name))), UNREADABLE)
  const userId = fold(usernameClaimDecider, await openAll<UsernameEvent>(data, claims))
  if (userId === null) throw unknownUser(name)
  return userId
}

/**
 * Reads all events about the user, in log order, up to the present end of the log. They are in the streams of tokens
 * and sessions.
 */
const eventsAbout = async ({ store }: LogData, userId: number): Promise<ReadonlyArray<StoredEvent>> => {
  const head = orThrow(await store.head(), UNREADABLE)
  const found: Array<StoredEvent> = []
  const streams = new Set<string>()
  // A subscription never ends on its own: it waits for new events until it is aborted.
  const stopping = new AbortController()
  for await (const message of store.subscribe(BEGINNING, ['api-token-', 'live-'], stopping.signal)) {
    if (message.kind === 'event' && message.event.position <= head) {
      const { event } = message
      if (membersOf(event)['userId'] === userId) streams.add(event.stream)
      // Includes unreadable events of the user's streams, so the export shows that data are missing.
      if (streams.has(event.stream)) found.push(event)
    }
    const position = message.kind === 'event' ? message.event.position : message.position
    if (message.kind === 'caught-up' || position >= head) stopping.abort()
  }
  return found
}

const tokensIn = async (data: LogData, events: ReadonlyArray<StoredEvent>): Promise<ReadonlyArray<object>> => {
  const streams = new Map<string, Array<StoredEvent>>()
  for (const event of events.filter(({ stream }) => stream.startsWith('api-token-')))
    streams.set(event.stream, [...(streams.get(event.stream) ?? []), event])
  const tokens: Array<object> = []
  for (const streamEvents of streams.values()) {
    const clear = await openAll<ApiTokenEvent>(data, streamEvents)
    const state = fold(apiTokenDecider, clear)
    const [issued] = clear
    if (issued?.type !== 'ApiTokenIssued') continue
    const { tokenId: id, name, prefix, expiresAt, at: createdAt } = issued.data
    tokens.push(state.status === 'issued'
      ? { id, name: state.name, prefix, expiresAt, createdAt, isActive: state.isActive, isRevoked: false }
      : { id, name, prefix, expiresAt, createdAt, isActive: false, isRevoked: true })
  }
  return tokens
}

const userIn = async (data: LogData, userId: number): Promise<object> => {
  const stored = orThrow(await data.store.read(userStream(userId)), UNREADABLE)
  const state = fold(userDecider, await openAll<UserEvent>(data, stored))
  if (!isUser(state)) throw unknownUser(String(userId))
  const { passwordHash: _, usernameHash: __, ...account } = state
  return { ...account, events: await Promise.all(stored.map((event) => clearEvent(data.keyring, event))) }
}

const profilesIn = async (data: LogData, userId: number): Promise<ReadonlyArray<object>> => {
  const stored = orThrow(await data.store.read(profilesStream(userId)), UNREADABLE)
  return fold(profilesDecider, await openAll<ProfileEvent>(data, stored))
}

/** Collects the export, in the order of its members. */
const collect = async (read: ToolData, files: DataFiles, name: string, status: StatusLine) => {
  const data = { ...read, store: countEvents(read.store, 'events', status) }
  const userId = await userIdOf(data, files, name)
  const user = await userIn(data, userId)
  const profiles = await profilesIn(data, userId)
  const events = await eventsAbout(data, userId)
  const lives = []
  for (const event of events) {
    const created = createdOf(event)
    if (created === undefined || event.stream !== liveStream(created.data.liveId)) continue
    lives.push(await exportedLive(data, created.data.liveId))
  }
  return { user, profiles, tokens: await tokensIn(data, events), lives }
}

/** Runs `stenolog users export`. Resolves to the exit code: 1 when some session data cannot be read. */
export const exportUser = (name: string): Promise<number> =>
  withData(toolSettings(), async (data, files) => {
    const exported = await withStatus((status) => collect(data, files, name, status))
    console.log(JSON.stringify(exported, null, 2))
    return exported.lives.every(({ lost }) => lost.length === 0) ? 0 : 1
  })
