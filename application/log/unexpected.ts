/** A refusal that the rules give to none of the commands that were sent: a defect. */
export const unexpected = (who: string, { _tag }: { readonly _tag: string }): Error => new Error(`${who} refused with ${_tag}`)
