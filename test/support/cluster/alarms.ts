import { readFileSync } from 'node:fs'

const PAGES = ['docs/operate/monitor.md', 'docs/operate/cluster.md']

/** The alarms that the documentation recommends: the expression of each rule, by its name. */
export const documentedAlarms = (): ReadonlyMap<string, string> =>
  new Map(PAGES.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\{ alert: (\w+), expr: '([^']+)'/g)]
      .map(([, name = '', expression = '']): [string, string] => [name, expression])))

/** Returns the values of a metric. A selector such as `stenolog_leases{holder="nobody"}` selects one time series. */
const valuesOf = (selector: string, page: string): ReadonlyArray<number> =>
  page.split('\n').flatMap((line) => {
    const [series = '', value] = line.split(/ (?=\S+$)/)
    const isSelected = series === selector || series.startsWith(`${selector}{`)
    return isSelected && value !== undefined ? [Number(value)] : []
  })

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> =
  { '>': (a, b) => a > b, '<': (a, b) => a < b, '==': (a, b) => a === b }

const RULE = new RegExp(
  /^(?:increase\((?<growing>.+)\[\w+\]\)|abs\((?<size>.+)\)|(?<plain>\S+)) /.source
    + /(?<sign>>|<|==) (?:(?<factor>[\d.]+) \* )?(?<limit>\S+)$/.source,
)

/**
 * Returns whether the condition of a rule holds. `pages`: two answers of /metrics, an earlier one for `increase`.
 * Throws for a metric that the answers do not have, and for a form of expression that the documentation does not use.
 */
export const holds = (expression: string, [before, now]: readonly [string, string]): boolean => {
  const { growing, size, plain = '', sign = '', factor = '1', limit = '' } = RULE.exec(expression)?.groups ?? {}
  const compare = COMPARISONS[sign]
  if (compare === undefined) throw new Error(`unknown form of a rule: ${expression}`)
  const selector = growing ?? size ?? plain
  const [values, earlier] = [valuesOf(selector, now), valuesOf(selector, before)]
  if (values.length === 0) throw new Error(`no such metric: ${selector}`)
  const bound = Number(factor) * (valuesOf(limit, now)[0] ?? Number(limit))
  const seen = (value: number, n: number): number => {
    if (size !== undefined) return Math.abs(value)
    return growing === undefined ? value : value - (earlier[n] ?? 0)
  }
  return values.some((value, n) => compare(seen(value, n), bound))
}

/** Reads /metrics of a process, and adds the result of a probe of /health/ready. */
export const metricsOf = async (url: string): Promise<string> => {
  const [metrics, ready] = await Promise.all([fetch(`${url}/metrics`), fetch(`${url}/health/ready`)])
  return `${await metrics.text()}\nprobe_success{job="stenolog-ready"} ${ready.status === 200 ? 1 : 0}\n`
}
