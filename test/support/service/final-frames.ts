import type { TestSocket } from './client.ts'

/** The keys of the finals that the socket received: `5en` is segment 5, `5es` its Spanish translation. */
export const finalKeysOf = ({ frames }: TestSocket): ReadonlyArray<string> =>
  frames.flatMap(({ segment, language, final }) => (final === true ? [`${String(segment)}${String(language)}`] : []))

/** The texts of the final frames that the socket received. */
export const finalTextsOf = ({ texts }: TestSocket): ReadonlyArray<string> =>
  texts.filter((text) => text.includes('"final":true'))
