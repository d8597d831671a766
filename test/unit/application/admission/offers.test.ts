import test from 'ava'
import { announceWorker } from '../../../../application/admission/announce-worker.ts'
import { candidatesAmong, isWorkerKnown } from '../../../../application/admission/candidates.ts'
import { candidatesFrom, offeringOf, offersOf, type OffersDeps } from '../../../../application/admission/offers.ts'
import { offeredCatalogue } from '../../../../application/catalogue/offered-catalogue.ts'
import type { TranslationPair } from '../../../../application/ports/catalogue.ts'
import { admissionDecider } from '../../../../domain/admission/decider.ts'
import { initialState } from '../../../../domain/admission/state.ts'
import { fold } from '../../../../domain/shared/decider.ts'
import { admit, admitted, joined, reservation } from '../../domain/admission/admission-samples.ts'
import { specify } from '../../../support/tools/specify.ts'
import { memberNamed, modelNamed, offersWith, plainModel, scriptedMembers } from './members.ts'

const PAIR: TranslationPair = {
  id: 1,
  model: 'en-es',
  active: true,
  vram: 100,
  from: 'en',
  to: 'es',
  createdAt: '',
  updatedAt: null,
}
const placementRequest = { needs: ['tiny'], state: initialState, overcommit: 1, now: admitted(1).data.at }
const namesAndRanks = (...args: Parameters<typeof candidatesFrom>) =>
  candidatesFrom(...args).map(({ worker, rank }) => [worker, rank])

const engine = (changes: Partial<OffersDeps['engine']> = {}): OffersDeps['engine'] =>
  ({ deviceOf: (name) => ({ name: name === 'large' ? 'gpu' : 'cpu', lanes: 2 }), passTime: () => null, ...changes })

test('a process offers its installed models with device, lane share and load state', (t) => {
  const onDisk = [{ name: 'tiny', ships: true, bytes: 5, precision: null, source: null, measured: false }]
  const installed = {
    models: () => [plainModel('tiny'), plainModel('large', { active: false })],
    translations: () => [PAIR],
    onDisk: { all: () => onDisk },
  }
  const offers = offersOf({ engine: engine(), installed, isLoaded: (name) => name === 'tiny' })
  t.deepEqual(
    offers.models.map(({ name, device, share, isLoaded }) => [name, device, share, isLoaded]),
    [['tiny', 'cpu', 1.4 * 0.3, true], ['large', 'gpu', 1.4 * 0.3, false]],
  )
  t.deepEqual(offers.devices, [{ name: 'cpu', lanes: 2 }, { name: 'gpu', lanes: 2 }])
  t.deepEqual([offers.translations, offers.onDisk], [[PAIR], onDisk])
})

test('a candidate is running, reaches the log, and has the model and every translator', (t) => {
  const modelAndPair = offersWith([modelNamed('tiny')], { translations: [PAIR] })
  const members = [
    memberNamed('api', null),
    memberNamed('w1', modelAndPair),
    memberNamed('w2'),
    memberNamed('w3', modelAndPair, { state: 'draining' }),
    memberNamed('w4', modelAndPair, { logAnswers: false }),
    memberNamed('w5', offersWith([modelNamed('tiny', { active: false })], { translations: [PAIR] })),
  ]
  t.deepEqual(namesAndRanks(members, placementRequest), [['w1', 1], ['w2', 1]])
  t.deepEqual(namesAndRanks(members, { ...placementRequest, needs: ['tiny', 'en-es'] }), [['w1', 1]])
  t.deepEqual(
    [...offeringOf(members)].map(([name, names]) => [name, ...names]),
    [
      ['w1', 'tiny', 'en-es'],
      ['w2', 'tiny'],
      ['w5', 'en-es'],
    ],
  )
})

test('a worker that has already loaded the model comes first, unless it is overloaded', (t) => {
  const loaded = offersWith([modelNamed('tiny', { isLoaded: true })])
  const open = [1, 2, 3, 4].map((liveId) => reservation(liveId, { worker: 'w2' }))
  const members = [memberNamed('w1'), memberNamed('w2', loaded, { lives: [1, 2, 3, 4] })]
  const state = { ...initialState, open }
  t.deepEqual(namesAndRanks(members, placementRequest), [['w1', 1], ['w2', 0]])
  t.deepEqual(namesAndRanks(members, { ...placementRequest, state }), [['w1', 1], ['w2', 2]])
  const [, full] = candidatesFrom(members, { ...placementRequest, state, overcommit: 0 })
  t.is(full?.compute?.deviceOf('tiny').lanes, Infinity, 'with OVERCOMMIT=0 a full worker still accepts sessions')
  t.is(candidatesFrom(members, { ...placementRequest, overcommit: 1.5 })[1]?.compute?.deviceOf('tiny').lanes, 3)
})

test('of workers with equal rank the one with most free compute gets the session; then free memory decides', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [
    joined('w1', 12_000),
    joined('w2', 8000),
    admitted(1, { worker: 'w1' }),
    admitted(2, { worker: 'w1' }),
    admitted(3, { worker: 'w1' }),
  ]
  const members = [memberNamed('w1', undefined, { lives: [1, 2, 3] }), memberNamed('w2')]
  const candidates = candidatesFrom(members, { ...placementRequest, state: fold(admissionDecider, history) })
  given(...history).when(admit(4, { candidates })).thenEvents(admitted(4, { worker: 'w2' }))
  given(...history.slice(0, 2)).when(admit(1, { candidates })).thenEvents(admitted(1, { worker: 'w1' }))
})

test('a process uses its own current figures instead of its announcement', (t) => {
  const { members } = scriptedMembers(memberNamed('w1', null), memberNamed('w2'))
  const compute = {
    forModel: () => ({ deviceOf: () => ({ name: 'own', lanes: 9 }), shareOf: () => 0.1, active: new Set<number>() }),
  }
  const own = { offers: () => offersWith([modelNamed('tiny', { isLoaded: true })]), lives: () => [], compute }
  const deps = { members, admission: { state: () => initialState }, store: { now: () => 0 }, overcommit: 1 }
  const request = { model: plainModel('tiny'), needs: ['tiny'], maxDelay: 5 }
  const found = candidatesAmong({ ...deps, own })(request)
  t.deepEqual(
    found.map(({ worker, rank, compute }) => [worker, rank, compute?.deviceOf('tiny').lanes]),
    [['w1', 0, 9], ['w2', 1, 2]],
  )
  t.deepEqual(candidatesAmong({ ...deps, own: null })(request).map(({ worker }) => worker), ['w2'])
})

test('a worker announces itself immediately, and again after every notable change', (t) => {
  const { members, announced } = scriptedMembers(memberNamed('w1', null))
  const tasks: Array<() => void> = []
  const timers = { after: (_ms: number, task: () => void) => { tasks.push(task); return () => undefined } }
  const now = { share: 0.5, isLoaded: false, lives: [2, 1], logAnswers: true }
  const announcing = announceWorker({
    members, timers, lives: () => now.lives, logAnswers: () => now.logAnswers,
    offers: () => offersWith([modelNamed('tiny', { share: now.share, isLoaded: now.isLoaded })]),
  })
  const after = (change: Partial<typeof now>): number => {
    Object.assign(now, change)
    tasks.at(-1)?.()
    return announced.length
  }
  t.is(announced.length, 1)
  t.is(after({}), 1)
  t.is(after({ share: 0.54 }), 1, 'a small change is not announced')
  t.is(after({ share: 0.56 }), 2, 'the change since the last announcement counts')
  t.is(after({ lives: [1, 2] }), 2)
  t.is(after({ lives: [1] }), 3)
  t.is(after({ isLoaded: true }), 4)
  t.is(after({ logAnswers: false }), 5)
  t.like(announced.at(-1), { lives: [1], logAnswers: false })
  announcing.stop()
})

test('a process without engines lists the models of workers seen within ten minutes', (t) => {
  let clock = 0
  const environment = { monotonic: () => clock }
  const self = memberNamed('api', null)
  const french = modelNamed('tiny', { languages: ['fr', 'de'], vram: 500 })
  const { members, set } = scriptedMembers(
    self,
    memberNamed('w1', offersWith([modelNamed('tiny'), modelNamed('large', { id: 2, active: false })])),
  )
  const languages = { languages: () => [], furtherLanguages: () => [] }
  const catalogue = offeredCatalogue({ members, environment, languages })
  const listed = () =>
    catalogue.models().map(({ id, name, active, vram, languages: codes }) => [id, name, active, vram, codes.join()])
  t.deepEqual(listed(), [[1, 'tiny', true, 300, 'en,fr'], [2, 'large', false, 300, 'en,fr']])
  t.false('share' in (catalogue.models()[0] ?? {}))
  set([
    self,
    memberNamed('w1'),
    memberNamed('w2', offersWith([french, modelNamed('large', { id: 2 })], { translations: [PAIR] })),
  ])
  t.deepEqual(listed(), [[1, 'tiny', true, 500, 'fr'], [2, 'large', true, 300, 'en,fr']])
  t.deepEqual(catalogue.translations(), [PAIR])
  set([self])
  clock = 600_000
  t.is(listed().length, 2, 'the models of a restarting worker stay listed')
  clock = 600_001
  t.deepEqual(listed(), [])
  const own = { models: () => [plainModel('tiny')], translations: () => [] }
  set([memberNamed('api', offersWith([french]))])
  t.is(
    offeredCatalogue({ members, environment, languages, own }).models()[0]?.vram,
    300,
    'the own model overrides the announced one',
  )
})

test('a worker is known once it has announced its models, also while it accepts no sessions', (t) => {
  const { members, set } = scriptedMembers(memberNamed('api', null))
  t.false(isWorkerKnown({ members, own: null }))
  set([memberNamed('api', null), memberNamed('w1', undefined, { state: 'draining' })])
  t.true(isWorkerKnown({ members, own: null }))
})
