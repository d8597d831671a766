import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Removes code, because brackets in code are not links. */
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '``')

/** Returns the anchors of a page as GitHub derives them from headings; a repeated heading gets `-1`. */
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

/** Returns the links of a page to a missing file or heading. Links to other hosts are not checked. */
export const deadLinks = (file: string, text: string): ReadonlyArray<string> =>
  targetsOf(text).filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const to = path === '' ? file : normalize(join(dirname(file), path))
    if (path !== '' && !existsSync(to)) return true
    if (anchor === undefined || statSync(path === '' ? dirname(file) : to).isDirectory() && path !== '') return false
    return !anchorsOf(path === '' ? text : readFileSync(to, 'utf8')).has(anchor)
  })
