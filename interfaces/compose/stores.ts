import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../application/ports/documents.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { VerifyStream } from '../../application/ports/integrity.ts'
import type { KeyedMemory, Keyring } from '../../application/ports/keyring.ts'
import type { Leases } from '../../application/ports/leases.ts'
import { RELAY_VERSION } from '../../application/ports/live-links.ts'
import type { Member, Members, Profile } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import { liveKey, textKey } from '../../domain/live/events.ts'
import { embeddedMembers, embeddedLeases, EMBEDDED_NAME } from '../../infrastructure/embedded-members.ts'
import { loadOrCreateNodeName } from '../../infrastructure/files/node-name.ts'
import { acquireDataDirectory } from '../../infrastructure/sqlite/data-directory.ts'
import { loadMasterKey, loadOrCreateMasterKey } from '../../infrastructure/keys/master-key.ts'
import { hasServers, type Settings } from '../../infrastructure/settings/settings.ts'
import { openSqliteDocuments } from '../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyStream } from '../../infrastructure/sqlite/event-log/verify-stream.ts'
import { systemTimers as timers } from '../../infrastructure/process/system-timers.ts'
import { openSqliteKeyring } from '../../infrastructure/sqlite/keyring/keyring.ts'
import { type Claim, claimOf } from '../../infrastructure/store-rules/claim.ts'
import { FORMAT, VERSION } from '../../infrastructure/store-rules/format.ts'
import type { Ownership } from '../../infrastructure/eventstoredb/mark/log-owner.ts'
import { assemble, type Part } from './assemble.ts'

/** Commands wait longer for a server than the service does, because no client waits for them. */
export const SERVER_LIMIT_MS = 60_000

/** Files of the embedded stores in the data directory. */
export const EVENTS_FILE = 'events.sqlite'
export const DOCUMENTS_FILE = 'documents.sqlite'
export const KEYRING_FILE = 'keyring.sqlite'
/** Exists while a restore replaces the files of the embedded stores. */
export const UNFINISHED_RESTORE = 'restore.unfinished'
/** Exists while `log take-over` or `restore --in-place` records that the log may be an older copy. */
export const UNFINISHED_TAKE_OVER = 'take-over.unfinished'

/** Returns a message for users when an interrupted restore left files that do not belong together, else null. */
export const unfinishedRestore = (dataDir: string): string | null =>
  existsSync(join(dataDir, UNFINISHED_RESTORE))
    ? `a restore into ${dataDir} was not finished: run it again, with --replace`
    : null

export const masterKeyPath = ({ dataDir, masterKeyFile }: Pick<Settings, 'dataDir' | 'masterKeyFile'>): string =>
  masterKeyFile ?? join(dataDir, 'master.key')

/** Reads the master key. Throws an Error that names the setting and the path when the file is unusable. */
export const readMasterKey = (settings: Pick<Settings, 'dataDir' | 'masterKeyFile'>): Promise<Buffer> =>
  settings.masterKeyFile === null
    ? loadMasterKey(masterKeyPath(settings))
    : loadMasterKey(settings.masterKeyFile, 'STENOLOG_MASTER_KEY_FILE')

/** Locks the data directory for this process. Throws an Error for the user if it is in use or unusable. */
export const takeDataDirectory = (dataDir: string): { readonly release: () => void } => {
  const lock = acquireDataDirectory(dataDir)
  if (E.isRight(lock)) return lock.right
  const { left } = lock
  throw new Error(
    left._tag === 'DataDirectoryInUse'
      ? `another process uses the data directory ${left.path}`
      : `the data directory ${left.path} cannot be used: ${left.reason}`,
  )
}

interface ReadStores {
  readonly documents: Documents
  readonly keyring: Keyring
  /** Returns why their server is unavailable, or null. */
  readonly unreachable: () => string | null
  /** Milliseconds by which its clock is ahead of this machine's. Null without a server. */
  readonly mongoSkewMs: (() => number) | null
}

/**
 * Starts to follow the keys that other processes erase. `lives` are the sessions whose keys this process uses. `states`
 * loses the data of these keys.
 */
type FollowErasures = (lives: () => ReadonlyArray<number>, states: KeyedMemory) => Part

interface Joined {
  readonly members: Members
  readonly leases: Leases
  readonly followErasures: FollowErasures
  /** Id of the MongoDB that contains the members. Null with embedded stores. */
  readonly cluster: string | null
}

export interface Stores extends ReadStores {
  readonly store: EventStore
  readonly verifyStream: VerifyStream
  /** Number of leader changes of the event store. */
  readonly leaderChanges: () => number
  readonly masterKey: Buffer
  readonly members: Members
  /** Leases for tasks that one process at a time does. */
  readonly leases: Leases
  readonly followErasures: FollowErasures
}

interface Opening {
  readonly logger: Logger
  readonly environment: Pick<Environment, 'instance' | 'now' | 'monotonic'>
  /** For a command that records a restore. Takes over a log on a server, even if it belongs to another process. */
  readonly takesOver?: boolean
}

/** Returns the claim that identifies this process in the stores. Lock the data directory first. */
const ownClaim = async (
  { dataDir, nodeName, eventstoreUrl, mongoUrl }: Settings, { instance, now }: Opening['environment'],
): Promise<Claim> => {
  const isEmbedded = eventstoreUrl === null && mongoUrl === null
  const directory = isEmbedded ? EMBEDDED_NAME : await loadOrCreateNodeName(dataDir)
  const name = isEmbedded ? EMBEDDED_NAME : (nodeName ?? directory)
  return claimOf({ name, incarnation: instance }, directory, now())
}

/** Returns the roles and versions of this process, for other members. */
const profileOf = ({ role: roles }: Settings): Profile =>
  ({ roles, version: VERSION, speaks: { log: FORMAT, relay: RELAY_VERSION } })

const openEmbedded = (file: (name: string) => string, masterKey: Buffer): Promise<ReadStores & Part> =>
  assemble(async (opened) => {
    const documents = await openSqliteDocuments({ file: file(DOCUMENTS_FILE) })
    opened({ stop: documents.close })
    const keyring = await openSqliteKeyring({ file: file(KEYRING_FILE), masterKey })
    opened({ stop: keyring.close })
    return { documents, keyring, unreachable: () => null, mongoSkewMs: null }
  })

/** Without MongoDB, this process is the only member. */
const onlyMember = (claim: Claim, profile: Profile, logger: Logger): Joined => ({
  members: embeddedMembers(claim, profile), leases: embeddedLeases(claim, { logger }), cluster: null,
  followErasures: () => ({ stop: () => Promise.resolve() }),
})

interface Refusing {
  readonly members: Pick<Members, 'self' | 'all'>
  /** LEASE_TTL in milliseconds. */
  readonly ttl: number
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn'>
}

/** Number of checks in one LEASE_TTL. */
const CHECKS_PER_TTL = 10
/**
 * Maximum wait in multiples of LEASE_TTL. It is longer than the time to detect a lost process. If two processes start
 * together, only one of them may stop. So the process with the lower incarnation (id of a run) waits longer, and the
 * other process stops first.
 */
const PATIENCE_TTLS = { higher: 1.5, lower: 2.5 }

/**
 * Throws an Error for the user if another process uses the same MongoDB. The embedded event log allows one process. A
 * process that was killed disappears from the members during the wait.
 */
const refuseSecondProcess = async ({ members, ttl, timers, logger }: Refusing): Promise<void> => {
  const { self, all } = members
  const others = (): ReadonlyArray<Member> => all().filter(({ incarnation }) => incarnation !== self.incarnation)
  const [first] = others()
  if (first === undefined) return
  logger.warn({ member: first.name, ttl }, 'waiting to see whether another process that uses MongoDB is running')
  const patience = self.incarnation < first.incarnation ? PATIENCE_TTLS.lower : PATIENCE_TTLS.higher
  for (let check = 0; check < CHECKS_PER_TTL * patience; check += 1) {
    await pause(timers, ttl / CHECKS_PER_TTL)
    if (others().length === 0) return
  }
  throw new Error(
    `MongoDB is in use by the process "${first.name}". Stop that process: with an embedded event log only one process `
      + 'may run',
  )
}

interface Joining {
  readonly settings: Settings
  readonly url: string
  readonly masterKey: Buffer
  readonly claim: Claim
  readonly profile: Profile
  readonly logger: Logger
  readonly monotonic: Environment['monotonic']
}

/**
 * Opens the stores in MongoDB. This process becomes a member before it writes. The database clients are imported only
 * here, because loading them takes a third of the start time.
 */
const openMongo = (joining: Joining): Promise<ReadStores & Joined & Part> =>
  assemble(async (opened) => {
    const { settings, url, masterKey, claim, profile, logger, monotonic } = joining
    const { leaseTtl: ttl, streamPrefix: prefix } = settings
    const { requireAtomicUpdates } = await import('../../infrastructure/mongodb/atomic-updates.ts')
    const { connectMongo } = await import('../../infrastructure/mongodb/connection.ts')
    const { createMongoDocuments } = await import('../../infrastructure/mongodb/documents.ts')
    const { followErasures } = await import('../../infrastructure/keys/follow-erasures.ts')
    const { erasedLately, openMongoKeyring } = await import('../../infrastructure/mongodb/keyring.ts')
    const { createLeaseRegister } = await import('../../infrastructure/mongodb/lease-register.ts')
    const { createLeases } = await import('../../infrastructure/mongodb/leases.ts')
    const { clusterOf, markDatabases } = await import('../../infrastructure/mongodb/marks.ts')
    const { createMemberRegister } = await import('../../infrastructure/mongodb/member-register.ts')
    const { joinMembers } = await import('../../infrastructure/mongodb/members.ts')
    const connection = await connectMongo(url, { prefix })
    opened({ stop: connection.close })
    const members = await joinMembers(
      { register: createMemberRegister(connection), timers, monotonic, logger }, claim, profile, ttl,
    )
    opened({ stop: members.leave })
    // An embedded event log allows only one process, even if its read models are in MongoDB.
    if (!hasServers(settings)) await refuseSecondProcess({ members, ttl, timers, logger })
    await requireAtomicUpdates(connection)
    await markDatabases([connection.readModels, connection.keyring])
    const keyring = await openMongoKeyring(connection, masterKey)
    const cluster = await clusterOf(connection)
    const register = createLeaseRegister(connection)
    const leases = createLeases({ register, members, timers, logger, pauseMs: ttl / 5 })
    const following = { erased: erasedLately(connection), timers, monotonic, logger }
    return {
      documents: createMongoDocuments(connection), keyring, unreachable: connection.unreachable, members, cluster,
      leases, mongoSkewMs: connection.clockSkewMs,
      followErasures: (lives, states) => {
        const needed = () => lives().flatMap((id) => [liveKey(id), textKey(id)])
        return followErasures({ ...following, memories: [keyring, states], needed })
      },
    }
  })

/** Opens the event store that the settings name. If a server does not answer, this fails instead of opening SQLite. */
const openEventStore = async (
  { eventstoreUrl: url, streamPrefix: prefix }: Settings, file: string, logger: Logger, ownership: Ownership,
): Promise<Pick<Stores, 'store' | 'verifyStream' | 'leaderChanges'>> => {
  if (url === null) {
    const store = await openSqliteEventStore({ file, logger })
    return { store, verifyStream: verifyStream(file), leaderChanges: () => 0 }
  }
  const { openEventStoreDb } = await import('../../infrastructure/eventstoredb/event-store.ts')
  const store = await openEventStoreDb({ url, prefix, logger, ownership })
  // EventStoreDB stores no hashes, so a stream cannot be verified.
  return { store, verifyStream: async () => E.right(null), leaderChanges: store.leaderChanges }
}

/**
 * Opens the stores that the settings name. Throws an Error for the user if the data directory or a server is
 * unavailable, or in use by another process.
 */
export const openStores = (settings: Settings, opening: Opening): Promise<Stores & Part> =>
  assemble(async (opened) => {
    const { logger, environment, takesOver = false } = opening
    const { dataDir, eventstoreUrl, mongoUrl, leaseTtl: ttl } = settings
    const lock = takeDataDirectory(dataDir)
    opened({ stop: async () => lock.release() })
    const file = (name: string): string => join(dataDir, name)
    const unfinished = unfinishedRestore(dataDir)
    if (unfinished !== null) throw new Error(unfinished)
    if (!takesOver && existsSync(file(UNFINISHED_TAKE_OVER)))
      throw new Error(
        eventstoreUrl === null
          ? `a restore in ${dataDir} was not finished: run \`stenolog restore --in-place\` again`
          : `a take-over of the log for ${dataDir} was not finished: run \`stenolog log take-over\` again`,
      )
    const masterKey = settings.masterKeyFile === null
      ? await loadOrCreateMasterKey(masterKeyPath(settings))
      : await readMasterKey(settings)
    const claim = await ownClaim(settings, environment)
    const profile = profileOf(settings)
    const { members, cluster, leases, followErasures, ...reads } = opened(
      mongoUrl === null
        ? { ...(await openEmbedded(file, masterKey)), ...onlyMember(claim, profile, logger) }
        : await openMongo({
            settings, url: mongoUrl, masterKey, claim, profile, logger, monotonic: environment.monotonic,
          }),
    )
    const taken = Promise.withResolvers<string>()
    const owner = { ...claim, cluster }
    const { ownershipProblem } = members
    const ownership = { owner, takesOver, ownershipProblem, timers, checkIntervalMs: ttl / 5, onTaken: taken.resolve }
    const log = await openEventStore(settings, file(EVENTS_FILE), logger, ownership)
    opened({ stop: log.store.close })
    const replaced = Promise.race([members.replaced, taken.promise])
    return { ...reads, ...log, masterKey, leases, followErasures, members: { ...members, replaced } }
  })
