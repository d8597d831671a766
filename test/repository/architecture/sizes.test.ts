import test from 'ava'
import { productSources } from './imports.ts'
import { crowdedFolders, oversizeIn, oversizeInProduct, productFiles } from './sizes.ts'

test('a folder of the product has at most 15 files', (t) => {
  const files = productFiles()
  t.true(files.length > productSources('.').length, 'files that are not .ts files were found too')
  t.deepEqual(crowdedFolders(files), [])
})

// oxlint checks the length of files (max-lines).
test('a type of the inner layers has at most 12 members, a function at most 5 parameters', (t) => {
  t.deepEqual(oversizeInProduct().map(({ path, name, size }) => `${path}: ${name} has ${size}`), [])
})

const times = (count: number, textOf: (n: number) => string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, n) => textOf(n))
const membersOf = (count: number): string => times(count, (n) => `readonly m${n}: number\n`).join('')
const parametersOf = (count: number): string => times(count, (n) => `p${n}: number`).join(', ')

const reportedOf = (text: string): ReadonlyArray<string> =>
  oversizeIn('domain/x.ts', text).map(({ path, name, size }) => `${path}: ${name} has ${size}`)

const WITH_MEMBERS: ReadonlyArray<readonly [what: string, name: string, textOf: (members: string) => string]> = [
  ['an interface', 'X', (members) => `export interface X {\n${members}}`],
  ['a type literal', 'line 2', (members) => `\nexport type X = {\n${members}}`],
  ['a type literal inside a parameter', 'line 1', (members) => `export const x = (y: { ${members} }): number => y.m0`],
]

for (const [what, name, textOf] of WITH_MEMBERS)
  test(`the check reports ${what} of 13 members, not of 12`, (t) => {
    t.deepEqual(reportedOf(textOf(membersOf(13))), [`domain/x.ts: ${name} has 13 members`])
    t.deepEqual(reportedOf(textOf(membersOf(12))), [])
  })

const WITH_PARAMETERS: ReadonlyArray<readonly [what: string, textOf: (parameters: string) => string]> = [
  ['a function', (parameters) => `export const x = (${parameters}): number => p0`],
  ['a declared function', (parameters) => `export function x(${parameters}): number { return p0 }`],
  ['a constructor', (parameters) => `export class X { constructor(${parameters}) {} }`],
  ['a function type', (parameters) => `export type X = (${parameters}) => number`],
  ['a method of an interface', (parameters) => `export interface X { y(${parameters}): number }`],
]

for (const [what, textOf] of WITH_PARAMETERS)
  test(`the check reports ${what} of 6 parameters, not of 5`, (t) => {
    t.deepEqual(reportedOf(textOf(parametersOf(6))), ['domain/x.ts: line 1 has 6 parameters'])
    t.deepEqual(reportedOf(textOf(parametersOf(5))), [])
  })

test('the check reports a folder of 16 files, not one of 15 files with subfolders', (t) => {
  const filesOf = (folder: string, count: number): ReadonlyArray<string> => times(count, (n) => `${folder}/${n}.ts`)
  t.deepEqual(crowdedFolders([...filesOf('domain/x', 16), ...filesOf('domain', 2)]), ['domain/x: 16 files'])
  t.deepEqual(crowdedFolders([...filesOf('domain/x', 15), ...filesOf('domain/x/y', 15)]), [])
})
