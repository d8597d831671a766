import type { TestSocket } from './client.ts'

/** `5en` is the final of segment 5, `5es` its translation. */
export const finalKeysOf = ({ frames }: TestSocket): ReadonlyArray<string> =>
  frames.flatMap(({ segment, language, final }) => (final === true ? [`${String(segment)}${String(language)}`] : []))

/** Its finals as they came. */
export const finalTextsOf = ({ texts }: TestSocket): ReadonlyArray<string> => texts.filter((text) => text.includes('"final":true'))
