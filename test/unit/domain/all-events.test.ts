import { globSync, readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { allEvents, definitionOf, upgrade, type AnyEventDefinition } from '../../../domain/all-events.ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { envelope, ERASED, isFilled, textToSeal } from '../../../domain/shared/event.ts'

type Members = Readonly<Record<string, unknown>>

/** A golden file: `<Type>.json`, or `<Type>.<variant>.json` when one example cannot show every member. */
interface Golden {
  readonly file: string
  readonly type: string
  readonly plain: Members
  readonly stored: Members
  /** Members that may be missing. Without a list, all members are required. */
  readonly optional?: ReadonlyArray<string>
}

const goldenIn = (folder: URL): ReadonlyArray<Golden> =>
  readdirSync(folder).filter((file) => file.endsWith('.json')).map((file): Golden => {
    const shapes = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Pick<
      Golden,
      'plain' | 'stored' | 'optional'
    >
    return { ...shapes, file, type: file.split('.')[0] ?? '' }
  })

const folder = new URL('./golden/', import.meta.url)
const golden = goldenIn(folder)
/** Forms that older versions stored, with the plain form after the upgrade. */
const earlier = goldenIn(new URL('earlier/', folder))

const definition = (type: string): AnyEventDefinition => {
  const found = definitionOf(type)
  if (found === undefined) throw new Error(`no definition of ${type}`)
  return found
}

test('every event type has a golden file, and every golden file has an event type', (t) => {
  const types = allEvents.map((event) => event.type)
  t.deepEqual([...new Set(golden.map((shape) => shape.type))].sort(), [...types].sort())
  t.is(new Set(types).size, types.length, 'no type is defined twice')
})

test('every event that the domain defines is listed', async (t) => {
  const root = new URL('../../../domain/', import.meta.url)
  const modules = globSync('**/*.ts', { cwd: root }).map(
    async (path) => (await import(new URL(path, root).href)) as Members,
  )
  const exported = (await Promise.all(modules)).flatMap((module) => Object.values(module))
  const defined = exported.flatMap((value) =>
    typeof value === 'object' && value !== null && 'codec' in value && 'type' in value ? [value.type] : [])
  t.true(defined.length > 20, 'the definitions were found')
  t.deepEqual(defined.filter((type) => definitionOf(String(type)) === undefined), [])
})

for (const { file, type, plain, stored, optional = [] } of golden) {
  test(`${file}: the plain form decodes to itself, with nothing added or removed`, (t) => {
    t.deepEqual(definition(type).codec.decode(plain), E.right(plain))
  })

  test(`${file}: a missing member is refused, an unknown one removed`, (t) => {
    const { codec } = definition(type)
    for (const member of Object.keys(plain)) {
      const { [member]: _, ...rest } = plain
      if (optional.includes(member)) t.deepEqual(codec.decode(rest), E.right(rest), member)
      else t.true(E.isLeft(codec.decode(rest)), member)
    }
    t.deepEqual(codec.decode({ ...plain, unknownMember: 1 }), E.right(plain))
  })

  test(`${file}: NaN and Infinity are refused because JSON cannot store them`, (t) => {
    for (const [member, value] of Object.entries(plain))
      if (typeof value === 'number')
        for (const unstorable of [NaN, Infinity])
          t.true(E.isLeft(definition(type).codec.decode({ ...plain, [member]: unstorable })), member)
    t.true(E.isLeft(definition(type).codec.decode({})))
  })

  test(`${file}: the stored form encrypts exactly the personal members, with the key of the definition`, (t) => {
    const { personal, keyOf } = definition(type)
    for (const member of Object.keys(plain)) {
      if (!personal.includes(member) || plain[member] === null) t.deepEqual(stored[member], plain[member], member)
      else t.deepEqual(decodeOrThrow(envelope, stored[member]).k as string | undefined, keyOf?.(plain), member)
    }
    t.deepEqual(Object.keys(stored), Object.keys(plain))
  })

  test(`${file}: the stored form needs no upgrade and decrypts to the plain form`, (t) => {
    const { codec, personal } = definition(type)
    const current = upgrade(type, stored)
    const sealed = personal.filter((member) => isFilled(plain[member]))
    const opened = Object.fromEntries(sealed.map((member) => [member, textToSeal(plain[member])]))
    t.deepEqual(current, stored)
    t.deepEqual(codec.decode({ ...current, ...opened }), E.right(plain))
  })
}

for (const { file, type, plain, stored } of earlier)
  test(`${file} of an older version is upgraded to the current shape`, (t) => {
    t.deepEqual(definition(type).codec.decode(upgrade(type, stored)), E.right(plain))
    t.deepEqual(upgrade(type, plain), plain)
  })

test('names, URLs, tokens, passwords and text are personal everywhere', (t) => {
  const secrets = [
    'audioUrl',
    'senderToken',
    'listenerToken',
    'username',
    'passwordHash',
    'text',
    'words',
    'vocabulary',
    'sealed',
  ]
  for (const type of new Set(golden.map((shape) => shape.type))) {
    const members = new Set(golden.flatMap((shape) => (shape.type === type ? Object.keys(shape.plain) : [])))
    const expected = [...members].filter(
      (member) => secrets.includes(member) || (member === 'name' && /^(?:Profile|ApiToken)/.test(type)),
    )
    t.deepEqual([...definition(type).personal].sort(), expected.sort(), type)
  }
})

test('a personal member that is not a string is encrypted as JSON and is empty once its key is erased', (t) => {
  const { codec } = definition('SegmentFinalised')
  const segment = golden.find(({ file }) => file === 'SegmentFinalised.words.json')?.plain ?? {}
  t.deepEqual(
    codec.decode({ ...segment, text: ERASED, words: ERASED }),
    E.right({ ...segment, text: ERASED, words: [] }),
  )
  t.true(E.isLeft(codec.decode({ ...segment, words: '[{"start":' })))
  t.true(E.isLeft(codec.decode({ ...segment, words: '{"start":1}' })))
})

test('the key name is derived only from data of the right event type', (t) => {
  t.throws(() => definition('LiveCreated').keyOf?.({ liveId: 7 }), { message: /LiveCreated/ })
  t.is(definition('LiveStarted').keyOf, undefined)
})

test('an unknown type has no definition', (t) => {
  t.is(definitionOf('constructor'), undefined)
})
