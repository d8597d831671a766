import { openEvents } from '../../../application/log/event-serialization.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { usernameHash } from '../../../application/users/username-claims.ts'
import { apiTokenDecider } from '../../../domain/api-token/decider.ts'
import type { ApiTokenEvent } from '../../../domain/api-token/events.ts'
import { LiveCreated, liveStream } from '../../../domain/live/events.ts'
import { profilesDecider } from '../../../domain/profiles/decider.ts'
import { profilesStream } from '../../../domain/profiles/events.ts'
import type { ProfileEvent } from '../../../domain/profiles/events.ts'
import { fold } from '../../../domain/shared/decider.ts'
import { isOfKnownType, membersOf, eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { isUser, userDecider } from '../../../domain/user/decider.ts'
import type { UserEvent, UsernameEvent } from '../../../domain/user/events.ts'
import { usernameStream, userStream } from '../../../domain/user/events.ts'
import { usernameClaimDecider } from '../../../domain/user/username-claim.ts'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { exportedLive } from './export.ts'
import { clearEvent } from './live-events.ts'
import { withData } from './tool-data.ts'
import type { DataFiles, ToolData } from './tool-data.ts'
import { counted } from './counted.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { unknownUser } from '../not-there.ts'
import { toolSettings } from '../tool-settings.ts'

type Reading = Pick<ToolData, 'store' | 'keyring'>

const UNREADABLE = 'the data cannot be read'

const openAll = async <A>({ keyring }: Reading, events: ReadonlyArray<StoredEvent>): Promise<ReadonlyArray<A>> =>
  // The codecs of the streams' own events have decoded them.
  orThrow(await openEvents(keyring)(events.filter(isOfKnownType))(), UNREADABLE) as unknown as ReadonlyArray<A>

const createdOf = eventReader([LiveCreated])

/** The user of a name; throws an Error for people where there is none. */
const userIdOf = async (data: Reading, { masterKey }: DataFiles, name: string): Promise<number> => {
  const credentials = createCredentials({ masterKey: await loadMasterKey(masterKey), jwtTtlSeconds: 0, environment: createEnvironment() })
  const claims = orThrow(await data.store.read(usernameStream(usernameHash(credentials, name)))(), UNREADABLE)
  const userId = fold(usernameClaimDecider, await openAll<UsernameEvent>(data, claims))
  if (userId === null) throw unknownUser(name)
  return userId
}

/** Everything of these streams that is about the user, in the order of the log, up to its present end. */
const eventsAbout = async ({ store }: Reading, userId: number): Promise<ReadonlyArray<StoredEvent>> => {
  const head = orThrow(await store.head()(), UNREADABLE)
  const found: Array<StoredEvent> = []
  const streams = new Set<string>()
  // A subscription that waits for more ends by its signal alone.
  const enough = new AbortController()
  for await (const message of store.subscribe(BEGINNING, ['api-token-', 'live-'], enough.signal)) {
    if (message.kind === 'event' && message.event.position <= head) {
      const { event } = message
      if (membersOf(event)['userId'] === userId) streams.add(event.stream)
      // Also what cannot be read of a stream of the user: who asks for all must hear of it.
      if (streams.has(event.stream)) found.push(event)
    }
    const position = message.kind === 'event' ? message.event.position : message.position
    if (message.kind === 'caught-up' || position >= head) enough.abort()
  }
  return found
}

const tokensIn = async (data: Reading, events: ReadonlyArray<StoredEvent>): Promise<ReadonlyArray<object>> => {
  const streams = new Map<string, Array<StoredEvent>>()
  for (const event of events.filter(({ stream }) => stream.startsWith('api-token-')))
    streams.set(event.stream, [...(streams.get(event.stream) ?? []), event])
  const tokens: Array<object> = []
  for (const its of streams.values()) {
    const clear = await openAll<ApiTokenEvent>(data, its)
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

const userIn = async (data: Reading, userId: number): Promise<object> => {
  const stored = orThrow(await data.store.read(userStream(userId))(), UNREADABLE)
  const state = fold(userDecider, await openAll<UserEvent>(data, stored))
  if (!isUser(state)) throw unknownUser(String(userId))
  const { passwordHash: _, usernameHash: __, ...account } = state
  return { ...account, events: await Promise.all(stored.map((event) => clearEvent(data.keyring, event))) }
}

const profilesIn = async (data: Reading, userId: number): Promise<ReadonlyArray<object>> =>
  fold(profilesDecider, await openAll<ProfileEvent>(data, orThrow(await data.store.read(profilesStream(userId))(), UNREADABLE)))

/** Everything, in the order in which it is printed. */
const collect = async (read: ToolData, files: DataFiles, name: string, status: StatusLine) => {
  const data = { ...read, store: counted(read.store, 'events', status) }
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

/** All that is kept of a user, printed as JSON; resolves to the exit code: 1 when some of it cannot be read. */
export const exportUser = (name: string): Promise<number> =>
  withData(toolSettings(), async (data, files) => {
    const exported = await withStatus((status) => collect(data, files, name, status))
    console.log(JSON.stringify(exported, null, 2))
    return exported.lives.every(({ lost }) => lost.length === 0) ? 0 : 1
  })
