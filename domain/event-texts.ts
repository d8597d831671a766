import type { EventType } from './all-events.ts'

/** The stream and the meaning of a type of event, for the reference in the docs. */
interface EventText {
  readonly stream: string
  readonly meaning: string
}

const inStream = (stream: string) => (meaning: string): EventText => ({ stream, meaning })

const admission = inStream('admission')
const live = inStream('live-<id>')
const apiToken = inStream('api-token-<id>')
const catalogue = inStream('catalogue')
const user = inStream('user-<id>')
const profiles = inStream('profiles-<id>')
const segments = inStream('segments-<id>')
const idempotency = inStream('idem-<hmac>')
const loginFailures = inStream('login-failures-<hmac>')
const administration = inStream('administration')

/** One text for each type of event. A missing text does not compile. */
export const EVENT_TEXTS: Readonly<Record<EventType, EventText>> = {
  CapacitySet: admission('The worker of an early version set the memory that sessions could reserve.'),
  WorkerJoined: admission(
    'A worker began to run sessions. `vram` is the memory that sessions can reserve on it, in megabytes.',
  ),
  WorkerRestarted: admission(
    'The process of a worker runs again. It keeps its sessions, except for those in `waiting`, and raises their terms.',
  ),
  WorkerDraining: admission('A worker stopped accepting new sessions. Its running sessions continue.'),
  WorkerLeft: admission('A worker stopped or was lost. Its sessions wait for another worker.'),
  Admitted: admission('A session got its id, its memory, its place in the quota and its worker.'),
  Moved: admission('The session got another worker.'),
  Released: admission('The memory and the quota of the session were released.'),
  LiveIdsSkipped: admission('A restore: ids of sessions up to `through` are not given out again.'),
  AdmissionSnapshotTaken: inStream('snapshot-admission')('An earlier version saved the state of `admission`.'),
  AdmissionSnapshotPacked: inStream('snapshot-admission')(
    'The state of `admission` was saved, so a start reads only the newest events.',
  ),
  ApiTokenIssued: apiToken('An API token was created. Its secret is kept as a hash.'),
  ApiTokenRenamed: apiToken('An API token got another name.'),
  ApiTokenDeactivated: apiToken('An API token was switched off.'),
  ApiTokenActivated: apiToken('An API token was switched on again.'),
  ApiTokenRevoked: apiToken('An API token was revoked for good.'),
  ApiTokenUsed: inStream('token-use-<id>')(
    'The token was used. At most one event a minute is written, and only the newest is kept.',
  ),
  ModelListed: catalogue('A model name was seen for the first time and got its id.'),
  TranslationPairListed: catalogue('A translation pair was seen for the first time and got its id.'),
  ModelSwitched: catalogue('An administrator switched a model off or on.'),
  LanguageSwitched: catalogue('An administrator switched a language off or on.'),
  TranslationPairSwitched: catalogue('An administrator switched a translation pair off or on.'),
  LivesListed: administration('An administrator looked at a list of sessions.'),
  LiveViewed: administration('An administrator looked at a session, its history or its integrity.'),
  ModelRemoved: administration('An administrator removed a model.'),
  JobStarted: inStream('jobs')('An administrator started a job: pull, verify, check or rebuild.'),
  JobEnded: inStream('jobs')('A job ended, with this result.'),
  AdministratorAdded: inStream('administrators')('A user became an administrator.'),
  AdministratorRemoved: inStream('administrators')('A user stopped being an administrator.'),
  LiveCreated: live('A session was created, with its model, languages and settings.'),
  SenderAttached: live('A sender sent its first audio, or was connected for ten seconds.'),
  SenderDetached: live('The sender disconnected.'),
  LiveTakenOver: live('Another worker, or the restarted worker, continues the session.'),
  VocabularyChanged: live('The sender changed `prompt` or `hotwords`.'),
  SourceStarted: live('A process began to pull the audio URL.'),
  LiveStarted: live('The first audio arrived.'),
  LiveFinished: live('The session finished, for this reason.'),
  LiveFailed: live('The session failed, for this reason.'),
  LiveAborted: live('The session was never completely created. It is never listed.'),
  LiveDeleted: live('The session was deleted and its keys were destroyed.'),
  ListenerTokenClaimed: inStream('listener-token-<hmac>')('A user was the first to choose this listener token.'),
  IdempotencyKeyUsed: idempotency('A request with this Idempotency-Key began.'),
  IdempotencyKeyAdmitted: idempotency('That request got the id of its session.'),
  ProfileAdded: profiles('A profile was created.'),
  ProfileChanged: profiles('A profile was changed. The event holds the whole profile.'),
  ProfileRemoved: profiles('A profile was deleted.'),
  SegmentFinalised: segments('A final segment of text, or its translation.'),
  SegmentsFenced: segments('After this event, the log accepts segments only from the worker with this term.'),
  UserRegistered: user('An account was created.'),
  PasswordChanged: user('The password was changed. All earlier logins ended.'),
  PasswordRehashed: user('The same password was stored under a stronger hash.'),
  LoginsEnded: user('All earlier logins ended: the user logged out everywhere, or the account is switched on again.'),
  UserLimitsChanged: user('The quotas of the user were changed.'),
  UserPermissionsChanged: user('The permissions of the user were changed.'),
  UserDisabled: user('The account was switched off.'),
  UserEnabled: user('The account was switched on again.'),
  UserDeleted: user('The account was deleted and its keys were destroyed.'),
  UsernameClaimed: inStream('username-<hmac>')('A user took this name.'),
  UsernameFreed: inStream('username-<hmac>')('The name became free again.'),
  LoggedOut: inStream('login-token-<jti>')('A login token was logged out.'),
  LoginFailed: loginFailures('A login with this name failed. Only the newest event is kept.'),
  UnknownLoginFailed: inStream('login-failures-shared-<number>')(
    'A login failed with an unknown name, or from a network without an earlier login. The newest events are kept.',
  ),
  LoginFailuresCleared: loginFailures('A login with this name succeeded.'),
  LogRestored: inStream('restores')(
    'An older copy replaced the log. Earlier logins ended, and later ids are higher by `idOffsets`.',
  ),
  StateSnapshotTaken: inStream('snapshot-<stream>')(
    'The state of a long stream was saved, so it need not be read from its beginning.',
  ),
  IdTaken: inStream('seq-<kind>')('A new user, profile or API token got the next id.'),
}
