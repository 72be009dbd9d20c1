"""A growing ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

ML_DOMAIN, ML_OPSET = "ai.onnx.ml", 3
_OLDEST_OPSET = 13  # sums take their axes as an input from here on
_AXES_ARE_INPUTS = 18  # version from which on ReduceLogSumExp takes its axes as an input
_NUMBERS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE}


class Graph:
    """Nodes and constants with names of their own.

    Parameters
    ----------
    prefix : str
        What all names begin with.
    opset : int
        Version of the operators of ONNX, at least 13.
    """

    def __init__(self, prefix: str, opset: int) -> None:
        if opset < _OLDEST_OPSET:
            raise ValueError(
                f"target_opset={opset} is too old: version {_OLDEST_OPSET} of the operators or a "
                "newer one is needed"
            )
        self._prefix, self._opset = prefix, opset
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, values: Any) -> str:
        """Add a constant and return its name.

        Parameters
        ----------
        values : array-like
            Numbers, or strings as an array of dtype object.

        Returns
        -------
        str
            Its name.
        """
        name = f"{self._prefix}constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(
        self, operator: str, *inputs: str, domain: str = "", out: str = "", **attributes: Any
    ) -> str:
        """Add a node and return the name of its output.

        Parameters
        ----------
        operator : str
            Its kind.
        *inputs : str
            Names of its inputs.
        domain : str
            Domain of the operator.
        out : str
            Name of the output; made up where it is empty.
        **attributes
            Its attributes.

        Returns
        -------
        str
            The name of the output.
        """
        name = f"{self._prefix}{operator.lower()}_{len(self.nodes)}"
        node = helper.make_node(
            operator, inputs, [out or name], name=name, domain=domain, **attributes
        )
        self.nodes.append(node)
        return out or name

    def cast(self, name: str, dtype: Any, out: str = "") -> str:
        """Add a conversion to another precision.

        Parameters
        ----------
        name : str
            What is converted.
        dtype : dtype
            float32 or float64.
        out : str
            Name of the result; made up where it is empty.

        Returns
        -------
        str
            The name of the result.
        """
        return self.add("Cast", name, out=out, to=_NUMBERS[np.dtype(dtype)])

    def reshape(self, name: str, *shape: int) -> str:
        """Add a change of shape.

        Parameters
        ----------
        name : str
            What is reshaped.
        *shape : int
            The new shape, -1 for what is left over.

        Returns
        -------
        str
            The name of the result.
        """
        return self.add("Reshape", name, self.constant(np.array(shape, dtype=np.int64)))

    def total(self, name: str, axis: int) -> str:
        """Add a sum over one axis, which is left out.

        Parameters
        ----------
        name : str
            What is summed.
        axis : int
            The axis; over the first one onnxruntime adds in order.

        Returns
        -------
        str
            The name of the result.
        """
        return self.add("ReduceSum", name, self.constant(np.array([axis])), keepdims=0)

    def log_sum_exp(self, name: str, axis: int) -> str:
        """Add the logarithm of a sum of exponentials over one axis, which is left out.

        Parameters
        ----------
        name : str
            What is summed.
        axis : int
            The axis.

        Returns
        -------
        str
            The name of the result.
        """
        if self._opset < _AXES_ARE_INPUTS:
            return self.add("ReduceLogSumExp", name, axes=[axis], keepdims=0)
        return self.add("ReduceLogSumExp", name, self.constant(np.array([axis])), keepdims=0)
