--------------------------- MODULE MCOneProcessor ---------------------------
(* The network of MCOneSwitch, with what all embodiments have in common. *)
EXTENDS MCOneSwitch, Embodiments, VariantRules
=============================================================================
