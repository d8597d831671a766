import test from 'ava'
import { oversizesIn, productFiles, sizeReport } from './sizes.ts'

const times = (count: number, textOf: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => textOf(n)).join('')

test('the report of sizes names what is larger than usual, and nothing else', (t) => {
  const parts = (more: number): ReadonlyArray<readonly [path: string, text: string]> => [
    ['domain/type.ts', `export interface X {\n${times(12 + more, (n) => `readonly m${n}: number\n`)}}\n`],
    ['domain/function.ts', `export const x = (${times(5 + more, (n) => `p${n}: number, `)}): number => p0\n`],
    ['domain/long.ts', times(250 + more, (n) => `export const x${n} = 0\n`)],
    ...Array.from({ length: 15 + more }, (_, n) => [`domain/folder/${n}.html`, ''] as const),
  ]
  t.deepEqual(sizeReport(oversizesIn(parts(0))), [])
  t.deepEqual(sizeReport(oversizesIn(parts(1))), [
    'sizes: 1 above 250 lines: domain/long.ts 251',
    'sizes: 1 above 12 members: domain/type.ts:1 13',
    'sizes: 1 above 5 parameters: domain/function.ts:1 6',
    'sizes: 1 above 15 files: domain/folder 16',
  ])
  t.true(productFiles().length > 500, 'the product was found')
})
