import type { Either } from 'fp-ts/lib/Either.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EngineSettings } from '../domain/live/settings.ts'
import type { Caller } from './caller.ts'
import type {
  ApiTokenNotFound,
  BuffersNotOrdered,
  ExpiryNotInFuture,
  LanguageNotFound,
  LastAdministrator,
  LastAdministratorChanged,
  LastProfile,
  ModelNotFound,
  PairNotFound,
  ProfileNotFound,
  TooManyApiTokens,
  TooManyProfiles,
  TooManyRequests,
  Unavailable,
  UserNotFound,
  UsernameTaken,
  WrongLogin,
  WrongPassword,
} from './errors.ts'
import type { Language, Model, TranslationPair } from './ports/catalogue.ts'
import type { TooBusy } from './ports/credentials.ts'
import type { Page, PageQuery } from './ports/documents.ts'
import type { ApiTokenView, ProfileView, UserView } from './ports/read-models.ts'
import type { ApiTokenChange, ChangeUserRequest, NewApiToken, NewUser, ProfileChange } from './requests.ts'

/** What the REST routes ask of the application. */
export interface Services {
  /** A JWT (R28). `address`: where the attempt comes from, for S24. */
  readonly login: (username: string, password: string, address: string) => Promise<Either<WrongLogin | TooManyRequests | TooBusy, string>>
  /** The caller behind a bearer token, none for anything invalid (R34). */
  readonly authenticate: (bearer: string) => Promise<Option<Caller>>
  /** The caller behind an API token: none for one that is unknown, inactive, expired or revoked, or whose user is not active. */
  readonly authenticateKey: (secret: string) => Option<Caller>
  readonly hasUsers: () => boolean
  /** Also adds the first profile, `Default`. `actor`: `user:7` or `setup`. */
  readonly registerUser: (user: NewUser, actor: string) => TaskEither<UsernameTaken | TooBusy | Unavailable, UserView>
  /** From memory. */
  readonly me: (caller: Caller) => Either<UserNotFound, UserView>
  /** All of it or nothing; the last active administrator stays one. A new password ends the user's earlier JWTs; a disabled user's open lives end. */
  readonly changeUser: (
    caller: Caller,
    userId: number,
    request: ChangeUserRequest,
  ) => TaskEither<UserNotFound | LastAdministratorChanged | TooBusy | Unavailable, UserView>
  /** Ends the caller's earlier JWTs, the one of this call included. */
  readonly changeOwnPassword: (
    caller: Caller,
    current: string,
    next: string,
    address: string,
  ) => TaskEither<WrongPassword | TooManyRequests | TooBusy | Unavailable, void>
  /** For good: ends the open lives, destroys all keys of the user and of the lives, frees the name. */
  readonly deleteUser: (caller: Caller, userId: number) => TaskEither<UserNotFound | LastAdministrator | Unavailable, void>
  readonly listUsers: (page: PageQuery) => TaskEither<Unavailable, Page<UserView>>
  /** For administrators: looks again which models are installed, and answers them all. */
  readonly rescanModels: (caller: Caller) => TaskEither<Unavailable, ReadonlyArray<Model>>
  /** For administrators, as the next two: what is switched off is refused for new lives; what is not installed stays inactive. */
  readonly switchModel: (caller: Caller, id: number, active: boolean) => TaskEither<ModelNotFound | Unavailable, Model>
  readonly switchLanguage: (caller: Caller, id: number, active: boolean) => TaskEither<LanguageNotFound | Unavailable, Language>
  readonly switchTranslation: (caller: Caller, id: number, active: boolean) => TaskEither<PairNotFound | Unavailable, TranslationPair>
  /** By id, ascending; the caller's own, as in all that follows. */
  readonly listProfiles: (caller: Caller, page: PageQuery) => TaskEither<Unavailable, Page<ProfileView>>
  readonly getProfile: (caller: Caller, profileId: number) => TaskEither<ProfileNotFound | Unavailable, ProfileView>
  readonly createProfile: (
    caller: Caller,
    profile: { readonly name: string; readonly settings: EngineSettings },
  ) => TaskEither<BuffersNotOrdered | TooManyProfiles | Unavailable, ProfileView>
  readonly changeProfile: (
    caller: Caller,
    profileId: number,
    change: ProfileChange,
  ) => TaskEither<ProfileNotFound | BuffersNotOrdered | Unavailable, ProfileView>
  readonly removeProfile: (caller: Caller, profileId: number) => TaskEither<ProfileNotFound | LastProfile | Unavailable, void>
  /** Newest first. */
  readonly listTokens: (caller: Caller, page: PageQuery) => TaskEither<Unavailable, Page<ApiTokenView>>
  /** The one answer that holds the secret. */
  readonly issueToken: (
    caller: Caller,
    token: NewApiToken,
  ) => TaskEither<ExpiryNotInFuture | TooManyApiTokens | Unavailable, { readonly token: ApiTokenView; readonly secret: string }>
  readonly changeToken: (
    caller: Caller,
    tokenId: number,
    change: ApiTokenChange,
  ) => TaskEither<ApiTokenNotFound | Unavailable, ApiTokenView>
  readonly revokeToken: (caller: Caller, tokenId: number) => TaskEither<ApiTokenNotFound | Unavailable, void>
}
