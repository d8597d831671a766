import { NO_ABILITIES } from '../../../../application/ports/catalogue.ts'
import type { Model } from '../../../../application/ports/catalogue.ts'
import type { Member, Members, Offers } from '../../../../application/ports/peers/members.ts'

export const modelNamed = (
  name: string,
  changes: Partial<Offers['models'][number]> = {},
): Offers['models'][number] => ({
  id: 1,
  name,
  active: true,
  vram: 300,
  createdAt: '',
  updatedAt: null,
  ...NO_ABILITIES,
  languages: ['en', 'fr'],
  device: 'cpu',
  share: 0.5,
  isLoaded: false,
  ...changes,
})

export const plainModel = (name: string, changes: Partial<Model> = {}): Model => {
  const { device: _device, share: _share, isLoaded: _isLoaded, ...model } = modelNamed(name)
  return { ...model, ...changes }
}

export const offersWith = (models: Offers['models'], changes: Partial<Offers> = {}): Offers =>
  ({ models, translations: [], devices: [{ name: 'cpu', lanes: 2 }], ...changes })

/** A worker of this name in its first incarnation, `<name>-1`. */
export const memberNamed = (
  name: string,
  offers: Offers | null = offersWith([modelNamed('tiny')]),
  changes: Partial<Member> = {},
): Member => ({
  name,
  incarnation: `${name}-1`,
  roles: offers === null ? ['api'] : ['worker'],
  version: '1.0.0',
  speaks: { log: 1, relay: 1 },
  state: 'up',
  address: null,
  offers,
  logAnswers: true,
  lives: [],
  jobs: null,
  ...changes,
})

/** Members that the test sets; the first is this process. */
export const scriptedMembers = (...first: readonly [Member, ...ReadonlyArray<Member>]) => {
  let present: ReadonlyArray<Member> = first
  let [own] = first
  /** Null: its own beats are acknowledged. */
  let doubt: string | null = null
  const lost = new Set<(member: Member) => void>()
  const changed = new Set<() => void>()
  const announced: Array<Parameters<Members['announce']>[0]> = []
  const set = (members: ReadonlyArray<Member>): void => {
    present = members
    for (const hear of changed) hear()
  }
  const members: Members = {
    self: own,
    replaced: new Promise(() => undefined),
    ownershipProblem: () => Promise.resolve(doubt),
    all: () => present,
    onChange: (hear) => {
      changed.add(hear)
      return () => void changed.delete(hear)
    },
    onLost: (hear) => {
      lost.add(hear)
      return () => void lost.delete(hear)
    },
    announce: (change) => {
      announced.push(change)
      own = { ...own, ...change }
      set(present.map((one) => (one.incarnation === own.incarnation ? own : one)))
    },
    leave: () => Promise.resolve(),
  }
  return {
    members, announced, set,
    doubt: (why: string | null): void => { doubt = why },
    lose: (member: Member): void => {
      set(present.filter((one) => one !== member))
      for (const hear of lost) hear(member)
    },
  }
}
