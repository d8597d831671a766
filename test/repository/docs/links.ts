import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Without what stands in code, where brackets are no links. */
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '``')

/** The anchors of a page as GitHub makes them: of its headings, the second of a name with `-1`. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  return new Set(
    [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
      const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
      const times = seen.get(anchor) ?? 0
      seen.set(anchor, times + 1)
      return times === 0 ? anchor : `${anchor}-${times}`
    }),
  )
}

const targetsOf = (text: string): ReadonlyArray<string> =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(
    ([, inline, reference]) => inline ?? reference ?? '',
  )

/** Links of a page that lead to no file, or to no heading of a page; addresses of other hosts are not asked. */
export const deadLinks = (file: string, text: string): ReadonlyArray<string> =>
  targetsOf(text).filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const to = path === '' ? file : normalize(join(dirname(file), path))
    if (path !== '' && !existsSync(to)) return true
    if (anchor === undefined || statSync(path === '' ? dirname(file) : to).isDirectory() && path !== '') return false
    return !anchorsOf(path === '' ? text : readFileSync(to, 'utf8')).has(anchor)
  })
