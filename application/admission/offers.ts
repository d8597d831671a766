import { type Compute, lanesFor } from '../../domain/admission/compute.ts'
import type { Candidate, Offering } from '../../domain/admission/placement.ts'
import type { WorkerEngine } from '../../domain/admission/worker-engines.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import type { Catalogue } from '../ports/catalogue.ts'
import type { SpeechEngine } from '../ports/engine.ts'
import type { InstalledModels } from '../ports/installed-models.ts'
import type { Member, Offers } from '../ports/members.ts'
import { shareOf, passTimeOf } from './measured-compute.ts'

export interface OffersDeps {
  readonly engine: Pick<SpeechEngine, 'passTime' | 'deviceOf'>
  /**
   * All installed models. A model that an administrator has disabled is included, because it still runs the sessions
   * that already use it. New sessions are checked against the catalogue instead.
   */
  readonly installed: Pick<Catalogue, 'models' | 'translations'> & { readonly onDisk: Pick<InstalledModels, 'all'> }
  readonly isLoaded: (model: string) => boolean
  /** The engines of this worker, one for each GPU. Undefined: one engine runs all sessions. */
  readonly engines?: () => ReadonlyArray<WorkerEngine> | undefined
}

/** Returns the models of this process with measured values, for processes that place sessions. */
export const offersOf = ({ engine, installed, isLoaded, engines }: OffersDeps): Offers => {
  const passTime = passTimeOf(engine, installed)
  const models = installed.models().map((model) => ({
    ...model,
    device: engine.deviceOf(model.name).name,
    share: shareOf(passTime(model.name)),
    isLoaded: isLoaded(model.name),
  }))
  const workerEngines = engines?.()
  const devices = new Map(models.map(({ name, device }) => [device, engine.deviceOf(name).lanes]))
  return {
    models,
    translations: installed.translations(),
    devices: [...devices].map(([name, lanes]) => ({ name, lanes })),
    onDisk: installed.onDisk.all(),
    ...(workerEngines !== undefined && {
      engines: workerEngines.map(({ vram, sessions }) => ({ vram, sessions: [...sessions] })),
    }),
  }
}

/**
 * Returns the names of a worker's installed models and translators. `models` also contains models whose folders were
 * removed, with `active: false`. They are left out here.
 */
const namesOf = ({ models, translations }: Offers): ReadonlySet<string> =>
  new Set([
    ...models.flatMap(({ name, active }) => (active ? [name] : [])),
    ...translations.map(({ model }) => model),
  ])

/** Returns the names of a worker's models and translators, without models that are too large for every GPU. */
const fittingNamesOf = (offers: Offers): ReadonlySet<string> => {
  const largest = offers.engines === undefined ? Infinity : Math.max(...offers.engines.map(({ vram }) => vram))
  const tooLarge = new Set(offers.models.flatMap(({ name, vram }) => (vram > largest ? [name] : [])))
  return new Set([...namesOf(offers)].filter((name) => !tooLarge.has(name)))
}

type OfferingMember = Member & { readonly offers: Offers }

/** True when a process accepts new sessions: it is a worker, it does not stop, and it reaches the event store. */
export const acceptsSessions = (member: Member): member is OfferingMember => {
  const { offers, state, logAnswers } = member
  return offers !== null && state === 'up' && logAnswers
}

/** Returns the workers that accept sessions, with the names of their models. */
export const offeringOf = (members: ReadonlyArray<Member>): Offering =>
  new Map(members.filter(acceptsSessions).map(({ name, offers }) => [name, fittingNamesOf(offers)]))

/** The device of a removed model. */
const NO_DEVICE = { name: '', lanes: 1 }

/** Returns the compute that a worker announced, with its lanes multiplied by `factor`. */
const announcedCompute = (
  { models, devices, engines }: Offers,
  lives: ReadonlyArray<number>,
  factor: number,
): Compute => {
  const found = (model: string) => models.find(({ name }) => name === model)
  return {
    deviceOf: (model) => {
      const device = devices.find(({ name }) => name === found(model)?.device) ?? NO_DEVICE
      return { name: device.name, lanes: device.lanes * factor }
    },
    shareOf: (model) => found(model)?.share ?? 0,
    active: new Set(lives),
    ...(engines && { engines: engines.map(({ vram, sessions }) => ({ vram, sessions: new Set(sessions) })) }),
  }
}

export interface CandidateQuery {
  /** Names of the model and, after it, of the translators. */
  readonly needs: ReadonlyArray<string>
  readonly state: AdmissionState
  /** Sessions may take this multiple of the lanes (passes that run at the same time). 0: no limit. */
  readonly overcommit: number
  readonly now: string
}

/**
 * Ranks of candidates. The lowest rank is preferred. Workers that keep up with real time come first, and among them
 * workers that have loaded the model.
 */
const KEEPS_UP = { loaded: 0, unloaded: 1 }
const FALLS_BEHIND = 2

/** Returns the workers that may run a session with these models, with their ranks. */
export const candidatesFrom = (
  members: ReadonlyArray<Member>,
  { needs, state, overcommit, now }: CandidateQuery,
): ReadonlyArray<Candidate> => {
  const [model] = needs
  return members.filter(acceptsSessions).flatMap(({ name: worker, offers, lives }): ReadonlyArray<Candidate> => {
    const names = namesOf(offers)
    if (!needs.every((name) => names.has(name))) return []
    const announced = announcedCompute(offers, lives, 1)
    const { neededLanes, freeLanes } = lanesFor(state, { worker, compute: announced }, model, now)
    const isLoaded = offers.models.some(({ name, isLoaded }) => name === model && isLoaded)
    const rank = neededLanes > freeLanes ? FALLS_BEHIND : KEEPS_UP[isLoaded ? 'loaded' : 'unloaded']
    return [{ worker, rank, compute: announcedCompute(offers, lives, overcommit === 0 ? Infinity : overcommit) }]
  })
}
