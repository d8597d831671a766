/** Returns the message of a thrown value. JavaScript can throw any value, not only an Error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
