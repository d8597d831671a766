import { globSync, readFileSync } from 'node:fs'
import test from 'ava'
import { chanceOf, createRandom } from '../../support/tools/seeded.ts'

const few = (random: () => number): ReadonlyArray<number> => Array.from({ length: 20 }, random)

test('equal seeds give equal numbers from 0 to below 1; other seeds and names give other numbers', (t) => {
  t.deepEqual(few(createRandom('7')), few(createRandom('7')))
  t.notDeepEqual(few(createRandom('7')), few(createRandom('8')))
  const many = Array.from({ length: 10_000 }, createRandom('7'))
  t.true(many.every((number) => number >= 0 && number < 1))
  const mean = many.reduce((sum, number) => sum + number, 0) / many.length
  t.true(Math.abs(mean - 0.5) < 0.02, String(mean))
  const lines: Array<string> = []
  const { seed, random } = chanceOf({ log: (line: string) => void lines.push(line) } as never)
  t.regex(lines.join(), new RegExp(`STENOLOG_TEST_SEED=${seed}\\b`))
  t.notDeepEqual(few(random('kills')), few(random('cuts')))
  t.deepEqual(few(random('kills')), few(createRandom(`${seed} kills`)))
})

test('tests take random numbers only from a seed', (t) => {
  const files = globSync('test/**/*.ts').filter(
    (path) => !path.startsWith('test/nightly/mutants/') && !path.endsWith('chance.test.ts'),
  )
  t.true(files.length > 200)
  t.deepEqual(files.filter((path) => readFileSync(path, 'utf8').includes('Math.random')), [])
})
