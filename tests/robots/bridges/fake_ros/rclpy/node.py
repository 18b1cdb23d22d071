class Node:
    def __init__(self, node_name):
        self.node_name = node_name
        self.waitables = []

    def destroy_node(self):
        self.waitables.clear()
