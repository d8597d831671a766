/** What a thrown value says, for people: nothing makes it an Error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
