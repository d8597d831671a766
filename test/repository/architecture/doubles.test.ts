import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { parseSync } from 'oxc-parser'

const PRODUCT = /^(domain|application|infrastructure|projections|interfaces|bench|tools)\//

/** Allowed imports of doubles, as `file → module`, each with its reason. The list is empty. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map()

/** Returns every import of product code that is not type-only, as `file → module`. */
const productImports = (path: string, text: string): ReadonlyArray<string> => {
  const { module } = parseSync(path, text)
  const isTypeOnly = (entries: ReadonlyArray<{ readonly isType: boolean }>): boolean =>
    entries.length > 0 && entries.every(({ isType }) => isType)
  const imports = module.staticImports
    .filter(({ entries }) => !isTypeOnly(entries))
    .map(({ moduleRequest }) => moduleRequest.value)
  const exports = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, isType }) => (moduleRequest === null || isType ? [] : [moduleRequest.value])))
  const dynamicImports = module.dynamicImports.map(({ moduleRequest }) =>
    text.slice(moduleRequest.start + 1, moduleRequest.end - 1))
  return [...imports, ...exports, ...dynamicImports]
    .map((name) => (name.startsWith('.') ? join(dirname(path), name) : name))
    .filter((name) => PRODUCT.test(name))
    .map((name) => `${path} → ${name}`)
}

test('doubles import the product as types only, so they do not repeat its mistakes', (t) => {
  const doubles = globSync('test/support/doubles/**/*.ts')
  t.true(doubles.length > 50, 'the doubles were found')
  const found = doubles.flatMap((path) => productImports(path, readFileSync(path, 'utf8')))
  t.deepEqual(found, [...EXCEPTIONS.keys()])

  const path = 'test/support/doubles/x.ts'
  const text = `
    import type { A } from '../../../domain/a.ts'
    import { type B } from '../../../application/b.ts'
    import { C, type D } from '../../../infrastructure/c.ts'
    import '../../../interfaces/d.ts'
    import { E } from '../tools/e.ts'
    export { F } from '../../../projections/f.ts'
    const g = await import('../../../domain/g.ts')
  `
  const broken = ['infrastructure/c.ts', 'interfaces/d.ts', 'projections/f.ts', 'domain/g.ts']
  t.deepEqual(productImports(path, text), broken.map((name) => `${path} → ${name}`))
})
