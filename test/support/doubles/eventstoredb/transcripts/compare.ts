/**
 * Replaces what differs from run to run: each id, short name and position by its number in order of appearance, times
 * by words.
 */
export const normalise = (transcript: string): ReadonlyArray<string> => {
  const seen = new Map<string, string>()
  const numbered = (kind: string) => (found: string): string => {
    const known = seen.get(found) ?? `${kind}${[...seen.values()].filter((name) => name.startsWith(kind)).length + 1}`
    seen.set(found, known)
    return known
  }
  const position = numbered('POSITION')
  return transcript
    .split('\n')
    .map((line) =>
      line
        .replace(/ \d+ms$/, '')
        // The client and the server spell it in ways of their own, and whichever is first is heard.
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
