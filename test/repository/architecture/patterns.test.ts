import { globSync, readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { Visitor, parseSync } from 'oxc-parser'
import { productSources } from './imports.ts'

interface Pattern {
  readonly place: string
  readonly source: string
  readonly flags: string
}

const patternsOf = (place: string, text: string): ReadonlyArray<Pattern> => {
  const found: Array<Pattern> = []
  new Visitor({
    Literal(node) {
      if ('regex' in node)
        found.push({ place, source: node.regex.pattern, flags: node.regex.flags.replace(/[gy]/g, '') })
    },
  }).visit(parseSync(place, text).program)
  return found
}

const SIZE = 100_000
/** Long repetitions of the pattern's own parts and of common triggers, followed by a character that cannot match. */
const attacksOn = ({ source }: Pattern): ReadonlyArray<string> => {
  const words = new Set([
    ...(source.match(/[A-Za-z0-9]+|[^A-Za-z0-9\\]/g) ?? []).slice(0, 12),
    'a',
    '0',
    ' ',
    '.',
    '-',
    '/',
    '%',
    ':',
    'a.',
    '1:',
    '\n',
    '#EXT',
  ])
  const heads = new Set(['', source.match(/^\^?([A-Za-z/#]+)/)?.[1] ?? ''])
  return [...heads].flatMap((head) => [...words].map((word) => `${head}${word.repeat(SIZE / word.length)}\u0000`))
}

/** Quadratic work on 100 kB takes 10^10 steps, far beyond these limits. The second try helps a busy machine. */
const LIMITS_MS = [3000, 6000]

const isLinear = (pattern: Pattern, limits = LIMITS_MS): boolean => {
  const texts = attacksOn(pattern)
  return limits.some((timeout) => {
    try {
      runInNewContext(
        'for (const text of texts) new RegExp(source, flags).test(text)',
        { ...pattern, texts },
        { timeout },
      )
      return true
    } catch {
      return false
    }
  })
}

test('every regular expression of the product is linear on hostile input of 100 kB', (t) => {
  const patterns = productSources('.').flatMap(({ path }) => patternsOf(path, readFileSync(path, 'utf8')))
  const unique = [...new Map(patterns.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern])).values()]
  t.true(unique.length > 40, 'the expressions were found')
  t.deepEqual(unique.filter((pattern) => !isLinear(pattern)).map(({ place, source }) => `${place}: /${source}/`), [])
  t.false(isLinear({ place: '', source: '^(a+)+$', flags: '' }, [300]), 'the check finds a slow expression')
})

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dev?: boolean
}

test('every installed package has a hash, no package runs an install script, and ws is patched', (t) => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true)
  t.true(installed.length > 100)
  t.deepEqual(
    installed.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true).map(([path]) => path),
    [],
  )
  // Some packages have install scripts. The service works without them.
  t.regex(readFileSync('.npmrc', 'utf8'), /^ignore-scripts ?= ?true$/m)
  const places = ['package.json', 'Dockerfile', ...globSync('.ci/*'), ...globSync('.github/workflows/*')]
  t.deepEqual(
    places.filter((path) =>
      /ignore-scripts[= ]+false|npm (?:rebuild|run-script install)/.test(readFileSync(path, 'utf8')),
    ),
    [],
  )
  const [major = 0, minor = 0] = (packages['node_modules/ws']?.version ?? '').split('.').map(Number)
  t.true(major > 8 || (major === 8 && minor >= 21))
})
