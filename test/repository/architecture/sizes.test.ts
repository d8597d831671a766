import test from 'ava'
import { productSources } from './imports.ts'
import { crowdedFolders, oversizeIn, oversizeInProduct, productFiles } from './sizes.ts'

test('no folder of the product holds more than 15 files itself', (t) => {
  const files = productFiles()
  t.true(files.length > productSources('.').length, 'the files were found, those that are no program too')
  t.deepEqual(crowdedFolders(files), [])
})

// That no file is longer than 250 lines is oxlint's max-lines.
test('in domain, application and projections no type has over 12 members, no function over 5 parameters', (t) => {
  t.deepEqual(oversizeInProduct().map(({ path, name, holds }) => `${path}: ${name} has ${holds}`), [])
})

const times = (count: number, textOf: (n: number) => string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, n) => textOf(n))
const membersOf = (count: number): string => times(count, (n) => `readonly m${n}: number\n`).join('')
const parametersOf = (count: number): string => times(count, (n) => `p${n}: number`).join(', ')

const reportedOf = (text: string): ReadonlyArray<string> =>
  oversizeIn('domain/x.ts', text).map(({ path, name, holds }) => `${path}: ${name} has ${holds}`)

const WITH_MEMBERS: ReadonlyArray<readonly [what: string, name: string, textOf: (members: string) => string]> = [
  ['an interface', 'X', (members) => `export interface X {\n${members}}`],
  ['the literal of a type', 'line 2', (members) => `\nexport type X = {\n${members}}`],
  ['a literal inside a type', 'line 1', (members) => `export const x = (y: { ${members} }): number => y.m0`],
]

for (const [what, name, textOf] of WITH_MEMBERS)
  test(`the check sees ${what} of 13 members, and leaves one of 12`, (t) => {
    t.deepEqual(reportedOf(textOf(membersOf(13))), [`domain/x.ts: ${name} has 13 members`])
    t.deepEqual(reportedOf(textOf(membersOf(12))), [])
  })

const WITH_PARAMETERS: ReadonlyArray<readonly [what: string, textOf: (parameters: string) => string]> = [
  ['a function', (parameters) => `export const x = (${parameters}): number => p0`],
  ['a declared function', (parameters) => `export function x(${parameters}): number { return p0 }`],
  ['a constructor', (parameters) => `export class X { constructor(${parameters}) {} }`],
  ['the type of a function', (parameters) => `export type X = (${parameters}) => number`],
  ['a method of an interface', (parameters) => `export interface X { y(${parameters}): number }`],
]

for (const [what, textOf] of WITH_PARAMETERS)
  test(`the check sees ${what} of 6 parameters, and leaves one of 5`, (t) => {
    t.deepEqual(reportedOf(textOf(parametersOf(6))), ['domain/x.ts: line 1 has 6 parameters'])
    t.deepEqual(reportedOf(textOf(parametersOf(5))), [])
  })

test('the check sees a folder of 16 files, and leaves one of 15 with folders below', (t) => {
  const filesOf = (folder: string, count: number): ReadonlyArray<string> => times(count, (n) => `${folder}/${n}.ts`)
  t.deepEqual(crowdedFolders([...filesOf('domain/x', 16), ...filesOf('domain', 2)]), ['domain/x: 16 files'])
  t.deepEqual(crowdedFolders([...filesOf('domain/x', 15), ...filesOf('domain/x/y', 15)]), [])
})
