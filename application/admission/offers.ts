import type { Compute } from '../../domain/admission/compute.ts'
import { lanesFor } from '../../domain/admission/compute.ts'
import type { Candidate, Offering } from '../../domain/admission/placement.ts'
import type { EngineRoom } from '../../domain/admission/engine-rooms.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import type { Catalogue } from '../ports/catalogue.ts'
import type { SpeechEngine } from '../ports/engine.ts'
import type { InstalledModels } from '../ports/installed-models.ts'
import type { Member, Offers } from '../ports/peers/members.ts'
import { shareOf, timedBy } from './measured-compute.ts'

export interface OffersDeps {
  readonly engine: Pick<SpeechEngine, 'passTime' | 'deviceOf'>
  /** What is installed here, whatever administrators switched off: that holds for new lives alone. */
  readonly installed: Pick<Catalogue, 'models' | 'translations'> & { readonly onDisk: Pick<InstalledModels, 'all'> }
  /** The model is in memory. */
  readonly isLoaded: (model: string) => boolean
  /** Undefined where one engine runs all sessions. */
  readonly engines?: () => ReadonlyArray<EngineRoom> | undefined
}

/** What this process can run, with what its engine measured, for those that give out lives elsewhere. */
export const offersOf = ({ engine, installed, isLoaded, engines }: OffersDeps): Offers => {
  const passOf = timedBy(engine, installed)
  const models = installed.models().map((model) => ({
    ...model,
    device: engine.deviceOf(model.name).name,
    share: shareOf(passOf(model.name)),
    isLoaded: isLoaded(model.name),
  }))
  const rooms = engines?.()
  const devices = new Map(models.map(({ name, device }) => [device, engine.deviceOf(name).lanes]))
  return {
    models,
    translations: installed.translations(),
    devices: [...devices].map(([name, lanes]) => ({ name, lanes })),
    onDisk: installed.onDisk.all(),
    ...(rooms !== undefined && { engines: rooms.map(({ vram, sessions }) => ({ vram, sessions: [...sessions] })) }),
  }
}

/** Names of the models and translators that a worker has. A model that is not installed is listed as inactive. */
const namesOf = ({ models, translations }: Offers): ReadonlySet<string> =>
  new Set([
    ...models.flatMap(({ name, active }) => (active ? [name] : [])),
    ...translations.map(({ model }) => model),
  ])

/** Names of the models and translators that a worker has, without models that are too large for each of its GPUs. */
const fittingNamesOf = (offers: Offers): ReadonlySet<string> => {
  const largest = offers.engines === undefined ? Infinity : Math.max(...offers.engines.map(({ vram }) => vram))
  const tooLarge = new Set(offers.models.flatMap(({ name, vram }) => (vram > largest ? [name] : [])))
  return new Set([...namesOf(offers)].filter((name) => !tooLarge.has(name)))
}

const takesLives = ({ state, logAnswers }: Member): boolean => state === 'up' && logAnswers

/** Who of the members may be given lives, and of which models. */
export const offeringOf = (members: ReadonlyArray<Member>): Offering =>
  new Map(
    members.flatMap((member) =>
      member.offers !== null && takesLives(member) ? [[member.name, fittingNamesOf(member.offers)] as const] : [],
    ),
  )

/** Of a model that is no longer there: sessions of it take nothing. */
const NO_DEVICE = { name: '', lanes: 1 }

/** As the worker measured it, its lanes given away so many times over. */
const announcedCompute = ({ models, devices, engines }: Offers, lives: ReadonlyArray<number>, factor: number): Compute => {
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

export interface AskedOfWorkers {
  /** The model and, behind it, the translators. */
  readonly needs: ReadonlyArray<string>
  readonly state: AdmissionState
  /** How many times over lanes are given away; 0: as often as somebody asks. */
  readonly overcommit: number
  readonly now: string
}

/** Who would keep up comes before who would not, who has the model in memory before who would load it first. */
const KEEPS_UP = { loaded: 0, unloaded: 1 }
const FALLS_BEHIND = 2

/** The workers that may be given a live that needs these models. */
export const candidatesFrom = (
  members: ReadonlyArray<Member>,
  { needs, state, overcommit, now }: AskedOfWorkers,
): ReadonlyArray<Candidate> => {
  const [model] = needs
  return members.flatMap((member): ReadonlyArray<Candidate> => {
    const { name: worker, offers, lives } = member
    if (offers === null || !takesLives(member)) return []
    const names = namesOf(offers)
    if (!needs.every((name) => names.has(name))) return []
    const { neededLanes, freeLanes } = lanesFor(state, { worker, compute: announcedCompute(offers, lives, 1) }, model, now)
    const isLoaded = offers.models.some(({ name, isLoaded }) => name === model && isLoaded)
    const rank = neededLanes > freeLanes ? FALLS_BEHIND : KEEPS_UP[isLoaded ? 'loaded' : 'unloaded']
    return [{ worker, rank, compute: announcedCompute(offers, lives, overcommit === 0 ? Infinity : overcommit) }]
  })
}
