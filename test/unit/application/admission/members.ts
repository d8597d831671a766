import { NO_ABILITIES, type Model } from '../../../../application/ports/catalogue.ts'
import type { Member, Members, Offers } from '../../../../application/ports/members.ts'

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

/** Creates members that the test controls; the first is this process. */
export const scriptedMembers = (...first: readonly [Member, ...ReadonlyArray<Member>]) => {
  let present: ReadonlyArray<Member> = first
  let [own] = first
  /** Why this process doubts that it is a member; null while its heartbeats are acknowledged. */
  let doubt: string | null = null
  const lost = new Set<(member: Member) => void>()
  const changed = new Set<() => void>()
  const announced: Array<Parameters<Members['announce']>[0]> = []
  const set = (members: ReadonlyArray<Member>): void => {
    present = members
    for (const listener of changed) listener()
  }
  const members: Members = {
    self: own,
    replaced: new Promise(() => undefined),
    ownershipProblem: () => Promise.resolve(doubt),
    all: () => present,
    onChange: (listener) => {
      changed.add(listener)
      return () => void changed.delete(listener)
    },
    onLost: (listener) => {
      lost.add(listener)
      return () => void lost.delete(listener)
    },
    announce: (change) => {
      announced.push(change)
      own = { ...own, ...change }
      set(present.map((member) => (member.incarnation === own.incarnation ? own : member)))
    },
    leave: () => Promise.resolve(),
  }
  return {
    members, announced, set,
    doubt: (reason: string | null): void => { doubt = reason },
    lose: (member: Member): void => {
      set(present.filter((candidate) => candidate !== member))
      for (const listener of lost) listener(member)
    },
  }
}
