/**
 * Replaces the text that differs between runs. Ids, random parts of stream names and positions become numbers in the
 * order of their appearance. Times become a word.
 */
export const normalise = (transcript: string): ReadonlyArray<string> => {
  const seen = new Map<string, string>()
  const numbered = (kind: string) => (found: string): string => {
    const count = [...seen.values()].filter((name) => name.startsWith(kind)).length
    const replacement = seen.get(found) ?? `${kind}${count + 1}`
    seen.set(found, replacement)
    return replacement
  }
  const position = numbered('POSITION')
  return transcript
    .split('\n')
    .map((line) =>
      line
        .replace(/ \d+ms$/, '')
        // The client and the server spell this error differently, and either may report it first.
        .replace(/deadline exceeded/i, 'deadline exceeded')
        .replace(/^\d+ ms (unhandledRejection) (?:TypeError: )?(.*?)(?: \|.*)?$/, '$1 $2')
        .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, numbered('ID'))
        .replace(/(?<=\b(?:rd|nope|tb|del\d?|tomb)-)[0-9a-f]{8}\b/g, numbered('RUN'))
        .replace(/(?<="(?:commit|prepare|metastreamRevision)":")\d+(?=n")/g, position)
        .replace(/"\d{4}-\d\d-\d\dT[^"]*Z"/g, '"TIME"')
        .trimEnd(),
    )
    .filter((line) => line !== '')
}
